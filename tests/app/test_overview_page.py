"""The overview page through AppTest: the real executor on a bundled example, no mocks."""

from __future__ import annotations

import pandas as pd

from app import jobs
from audits.groups import at_threshold
from audits.groups.text import headline
from audits.stats.badges import interval_text
from audits.stats.vocabulary import speaking
from tests.app.test_pages import MAIN, boxes, bring, carry_out, open_example, open_options, prepared, visit
from tests.reports.everything import FORMULA, HTML, LONG

PAGE = "views/groups.py"


def open_tab(at, name):
    at.session_state["tab"] = name
    return at.run()


def test_the_page_shows_the_runs_finding_and_moves_with_the_threshold(space) -> None:
    at = open_example(space, "hiring")
    prepared(at.switch_page(PAGE).run())
    assert not at.exception
    carry_out(space, at)
    audit = jobs.result(space, space.runs()[0]["spec"]).audits[0]
    expected = audit.result
    with speaking(audit.words):
        moved = headline(at_threshold(expected, 0.8))
    assert at.container(key="finding").text[0].value == audit.headline
    assert any(expected.judged.badge_text in element.value for element in at.markdown)
    telling = expected.table[1].differences["true_positive_rate"].estimate
    assert telling.high < 0 <= expected.widest.demographic_parity_difference.low
    assert telling == expected.judged.interval
    assert at.container(key="certainty").text[0].value == interval_text(expected.judged)
    at = open_tab(at, "Threshold")
    at.session_state["thresholds-more"] = True
    at.run().slider(key="cut").set_value(0.8).run()
    assert not at.exception
    assert at.container(key="moved").text[0].value == moved
    assert at.container(key="finding").text[0].value == audit.headline, "the saved one"


def test_the_chooser_shows_the_rate_that_fits_the_decision(space) -> None:
    at = open_example(space, "hiring")
    prepared(at.switch_page(PAGE).run())
    carry_out(space, at)
    for key, answer, name in (
        ("scarce", "many", "true positive rate"),
        ("scarce", "few", "precision"),
        ("gives", "burden", "false negative rate"),
        ("trust", "no", "selection rate"),
    ):
        at.radio(key=f"fit-{key}").set_value(answer).run()
        assert f"**{name.capitalize()}**" in [each.value for each in at.markdown]
        at.button(key="show-measure").click().run()
        assert not at.exception
        assert at.session_state["rates"] == [name.replace(" ", "_")]


def test_a_link_opens_its_run_and_another_threshold_lies_beside(space) -> None:
    at = open_example(space, "hiring")
    prepared(at.switch_page("views/flipset.py").run())
    open_options(at, "flipset").number_input(key="with-flipset-permutations").set_value(0).run()
    carry_out(space, at)
    finding = at.container(key="finding").text[0].value
    prepared(at.switch_page(PAGE).run())
    carry_out(space, at)
    flipset = next(run for run in space.runs() if "flipset" in run["spec"]["audits"][0])
    came = type(at).from_file(MAIN, default_timeout=60)  # without the choices, which only a browser brings
    came.query_params.update({"run": [flipset["key"][:12]], "w": space.token})
    came.switch_page("views/flipset.py").run()
    assert not came.exception
    assert came.container(key="finding").text[0].value == finding
    assert any(flipset["title"] in each for each in boxes(came, "note"))
    open_options(came, "flipset").number_input(key="with-flipset-permutations").set_value(19).run()
    assert not came.button(key="run").disabled, "a changed choice leaves the run"
    draft = space.draft()
    space.save_draft({**draft, "spec": {**draft["spec"], "threshold": 0.7}})
    at.run()
    carry_out(space, at)
    at = open_tab(at, "Like for like?")
    assert len(at.selectbox(key="beside").options) == 2
    at.selectbox(key="beside").select_index(1).run()
    assert not at.exception
    table = next(frame.value for frame in at.dataframe if "change" in frame.value)
    assert (table["change"] >= 0).all(), "at 0.5 nobody is decided worse than at 0.7"


def test_hostile_group_names_are_shown_as_they_are(space) -> None:
    names = [HTML, FORMULA, "*a* [b](http://x) :red[c] $d$", LONG + "1", LONG + "2"]
    attribute = "`group` *x*"
    frame = pd.DataFrame(
        {attribute: [names[k % 5] for k in range(300)], "age": [20 + k % 40 for k in range(300)]}
    )
    frame["score"] = [(k * 37 % 101) / 100 for k in range(300)]
    frame["paid"] = [k % 3 == 0 for k in range(300)]
    data = {"label": "paid", "favorable": True, "protected": [attribute], "features": ["age"]}
    bring(space, frame.to_csv(index=False), **data)
    draft = space.draft()
    draft["spec"]["model"] = {"predictions": {"score": "score"}}
    space.save_draft(draft)
    at = visit(space).switch_page(PAGE).run()
    carry_out(space, at)
    assert any(name in at.container(key="finding").text[0].value for name in names)
    at.session_state["thresholds-more"] = True
    at = open_tab(at, "Threshold")
    at.toggle(key="by-group").set_value(True).run()
    labels = [box.label.replace("\u2060", "") for box in at.number_input if str(box.key).startswith("cut-")]
    assert len(labels) == 5
    assert r"\*a\* \[b\](http\://x) \:red\[c\] \$d\$" in labels
    assert max(map(len, labels)) < 130
    at.number_input(key="cut-1").set_value(0.9).run()
    assert not at.exception
    audit = jobs.result(space, space.runs()[0]["spec"]).audits[0]
    cuts = {row.group: 0.9 if place == 1 else 0.5 for place, row in enumerate(audit.result.table)}
    with speaking(audit.words):
        told = headline(at_threshold(audit.result, {attribute: cuts}))
    assert at.container(key="moved").text[0].value == told
