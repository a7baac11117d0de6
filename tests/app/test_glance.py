"""At a glance through AppTest: an example lands there computed, and its numbers are the result's."""

from __future__ import annotations

import pytest

from app import jobs
from app.drafts import drafts
from app.glance.matrix import cell
from app.glance.runs import usual_options
from app.pages import QUESTIONS
from audits.data.samples import CATALOG
from audits.groups.figures.ranked import draw_ranked, ranked_groups
from audits.groups.metrics import METRICS
from audits.runs.executors.inline import InlineExecutor
from audits.runs.registry import AUDITS
from audits.stats import EVIDENCE
from audits.stats.badges import BADGES, ICONS
from tests.app.test_pages import bring, prepared, texts, visit

PAGE = "views/glance.py"


def links(at) -> list[str]:
    return [each.proto.label for each in at.get("page_link")]


def test_an_example_lands_there_with_its_groups_and_badges_beside_the_pages(space) -> None:
    placed = [name for names in QUESTIONS.values() for name in names]
    assert sorted(placed) == sorted([*AUDITS.ours, "compare"]), "each under one question"
    at = visit(space)
    assert not any(label[0] in ICONS.values() for label in links(at)), "nothing has run"
    at.query_params["people"] = '[{"group":{"sex":"woman"}}]'
    at = at.button(key="open-arrests").click().run()
    assert not at.exception
    assert "people" not in at.query_params, "whoever was selected in other data"
    assert at.container(key="matrix")
    known = {next(iter(record["spec"]["audits"][0])): record for record in space.runs()}
    assert set(known) == {"groups", "flipset"}, "bundled with the example, computed by nobody"
    for name, record in known.items():
        found = jobs.result(space, record["spec"])
        judged = found.audits[0].result.judged
        assert jobs.badge(space, record["spec"]) == judged.badge
        assert f"{ICONS[judged.badge]} {AUDITS[name].title}" in links(at)
        assert found.audits[0].headline in texts(at)
    assert AUDITS["explain"].title in links(at)


def test_other_data_are_run_only_when_asked_and_by_each_attribute_alone(space) -> None:
    rows = "sex,race,skill,hired\n" + "f,a,1,0\nm,b,2,1\nf,b,2,1\nm,a,3,0\n" * 40
    bring(space, rows, label="hired", favorable=1, protected=["sex", "race"])
    at = visit(space).switch_page(PAGE).run()
    assert not at.exception
    assert not space.runs()
    assert not at.button(key="run-groups").disabled
    held, _ = jobs.data(space, space.draft()["spec"]).result()
    options = usual_options(space.draft(), held)["groups"]
    assert options["by"] == ["sex", "race"]
    prepared(at.switch_page("views/groups.py").run().run())
    at.button(key="run").click().run()
    asked = space.runs()[0]["spec"]["audits"][0]["groups"]
    assert {key: asked[key] for key in options.keys() & asked.keys()} == options


@pytest.fixture(scope="module")
def loans():
    spec = CATALOG["loans"].spec
    names = spec["data"]["protected"]
    spec["audits"] = [{"groups": {"by": [*names, names]}}]
    return InlineExecutor().submit(spec, drafts.SAMPLES).result().audits[0].result


def test_the_figure_states_the_results_numbers(loans) -> None:
    asked = {"sex": "female", "ethnicity": "Velian", "age": "[18, 30)"}
    found = ranked_groups(loans, [asked, {"sex": "female"}])
    assert found.focus.metric("selection_rate").value == pytest.approx(56 / 124)
    assert found.rows[0] == found.focus
    assert any(row.is_reference for row in found.rows)
    assert "female" in [row.group for row in found.rows], "a group that is asked about, of its own attribute"
    assert found.everyone == pytest.approx(3623 / 5000)
    figure = draw_ranked(loans, found)
    estimate = found.focus.metric(found.rate)
    assert list(figure.data[0].x) == pytest.approx(
        [100 * each for each in (estimate.low, estimate.value, estimate.high)]
    )
    dashed = {trace.customdata[0][1] for trace in figure.data if trace.line.dash == "dash"}
    assert dashed == {found.text(row) for row in found.rows if row.n < 50}


def test_a_cell_of_the_matrix_shows_the_verdict_that_weighs_most(loans) -> None:
    for spread in loans.spreads:
        for metric in METRICS:
            if not metric.judged:
                continue
            gaps = [row.differences[metric.name] for row in loans.of(spread.attribute) if row.differences]
            judged = cell(loans, spread.attribute, metric.name)
            assert (judged.verdict == EVIDENCE) == any(gap.verdict == EVIDENCE for gap in gaps)
            assert judged.interval in [each.estimate for each in gaps] + [each.ratio for each in gaps]
            assert judged.badge in BADGES
