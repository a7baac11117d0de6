"""A run with a second model, or the first one treated: same people, paired changes, and what is refused."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import audits
from audits.comparison.intervals import People, share_moved
from audits.drawing.svg import media
from audits.reports import comparison
from audits.reports.comparison import change_exhibit, decided_exhibit
from audits.reports.html import render_report
from audits.reports.schema import results_schema
from audits.runs.comparison.changes import Changes
from audits.runs.comparison.two_models import paired_changes
from audits.runs.execute import execute
from audits.runs.gates.gate import judge, read_gate, statements
from audits.runs.result import RunResult
from audits.runs.spec import parse_spec
from audits.runs.storage.entry import first
from audits.stats.paired_shares import paired_difference
from tests.refused import refused

N = 300


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 people; `now` favors men, `then` less so, `same` is `now` again, `holes` lacks someone."""
    folder = tmp_path_factory.mktemp("pair")
    rng = np.random.default_rng(7)
    sex, skill = rng.choice(["f", "m"], N), rng.normal(0, 1, N)
    now = 1 / (1 + np.exp(-(skill + 0.9 * (sex == "m"))))
    then = 1 / (1 + np.exp(-(skill + 0.2 * (sex == "m") + rng.normal(0, 0.3, N))))
    frame = pd.DataFrame({"sex": sex, "skill": skill.round(3), "hours": rng.integers(1, 60, N)})
    frame["paid"] = (skill + rng.normal(0, 1, N) > 0).astype(int)
    frame["now"], frame["then"], frame["same"] = now.round(4), then.round(4), now.round(4)
    frame["holes"] = frame["then"].where(frame.index > 0)
    frame["rare"], frame["rarer"] = now - 0.3, now - 0.35
    frame["count"] = rng.integers(1, 5, N)
    frame.to_csv(folder / "people.csv", index=False)
    return folder


def spec(*asked: Any, compare: Any = None, **changes: Any) -> dict[str, Any]:
    data = {"path": "people.csv", "label": "paid", "favorable": 1, "protected": ["sex"]}
    data["features"] = ["skill", "hours"]
    document = {"data": data, "model": {"predictions": {"score": "now"}}, "audits": [*asked] or ["groups"]}
    return document | ({} if compare is None else {"compare": compare}) | changes


MEASURES = ["false_positive_rate", "squared_error"]
THEN = {"model": {"predictions": {"score": "then"}}}
WITHIN = {"protected": ["sex"], "context": ["hours"], "bins": 3, "top": 1}
PAIR = {"source": {"sex": "f"}, "target": {"sex": "m"}}


def run(base: Path, document: dict[str, Any]) -> RunResult:
    return execute(parse_spec(document, base))


@pytest.fixture(scope="module")
def found(base: Path) -> RunResult:
    asked = (
        "groups",
        {"flipset": {**PAIR, "permutations": 19, "noise_people": 60}},
        {"explain": {**PAIR, "draws": 200}},
        {"outcome_transport": {"by": ["sex"], "against": "label", "permutations": 19, "draws": 50}},
        {"rule_sets": {**WITHIN, "support": 0.1, "permutations": 49, "measures": MEASURES}},
        {"barycenter": {"by": ["sex"], "permutations": 19, "rounds": 0}},
    )
    return run(base, spec(*asked, compare=THEN))


@pytest.fixture(scope="module")
def alone(base: Path) -> list[RunResult]:
    """Each model in a run of its own."""
    return [run(base, spec("groups", model=model)) for model in (spec()["model"], THEN["model"])]


def change(found: RunResult, name: str, where: str) -> Any:
    each = next(item for item in found.compared.changes.audits if item.audit == name)
    return next(row for row in each.rows if row.where == where)


def test_both_models_have_the_numbers_of_runs_of_their_own(found: RunResult, alone: list[RunResult]) -> None:
    entries = found.to_json()
    both = entries["audits"][0], entries["compared"]["audits"][0]["second"]
    for entry, own in zip(both, (each.to_json()["audits"][0] for each in alone), strict=True):
        for key in ("table", "verdict", "interval", "spreads"):
            assert entry[key] == own[key]
    [told] = paired_changes(*alone)  # saved runs of one table are paired as far as they keep people
    row = next(row for row in told.rows if row.where == "table[sex: f].differences.selection_rate")
    assert row.change == change(found, "groups", row.where).change
    assert paired_changes(alone[0], alone[0]) == ()


def test_a_rate_and_a_gap_move_as_decisions_say(base: Path, found: RunResult) -> None:
    people = pd.read_csv(base / "people.csv")
    women = people["sex"] == "f"
    first, second = people["now"] >= 0.5, people["then"] >= 0.5
    row = change(found, "groups", "table[sex: f].selection_rate")
    assert row.change.value == pytest.approx(second[women].mean() - first[women].mean())
    level = 0.05 / found.compared.changes.audits[0].looked_at
    cells = [(second & first), (second & ~first), (~second & first), (~second & ~first)]
    known = paired_difference(*(float((each & women).sum()) for each in cells), level=level)
    assert (row.change.low, row.change.high) == pytest.approx((known.low, known.high), abs=1e-12)
    gap = change(found, "groups", "table[sex: f].differences.selection_rate")
    moved = [second[part].mean() - first[part].mean() for part in (women, ~women)]
    assert gap.change.value == pytest.approx(moved[0] - moved[1])
    assert gap.kind == "gap"
    assert gap.verdict == "evidence of a difference"


PAIRED = {
    "groups": {"table[sex: f].selection_rate"},
    "flipset": {"net", "positive.share", "negative.share"},
    "explain": {"gap", "each[0].unexplained"},
    "rule_sets": {"leaderboard[sex = f].difference"},
    "outcome_transport": set(),  # given both matchings, models that differ by chance alone seem to differ
    "barycenter": {"groups[f].net"},
}


def test_every_number_says_its_interval_or_why_it_has_none(found: RunResult) -> None:
    for each in found.compared.changes.audits:
        paired = {row.where for row in each.rows if row.change.low is not None}
        assert paired >= PAIRED[each.audit]
        assert bool(paired) == bool(PAIRED[each.audit])
        for row in each.rows:
            if row.change.low is None:
                assert row.change.method, (each.audit, row)
                assert row.verdict is None
            else:
                assert row.change.low <= row.change.value <= row.change.high, (each.audit, row)
            if None not in (row.first.value, row.second.value, row.change.value):
                moved = row.second.value - row.first.value
                assert row.change.value == pytest.approx(moved, abs=2e-6), (each.audit, row)
    boards = [each.audits[4].result.leaderboard for each in (found, found.compared.second)]
    compared = {row.where for row in found.compared.changes.audits[4].rows if row.where.startswith("leader")}
    assert len(compared) >= 2 * 5 > 2 * sum(map(len, boards)), "those that change most of all groups, too"
    net, gap = change(found, "flipset", "net"), change(found, "explain", "gap")
    assert net.change.value == pytest.approx(gap.change.value)


def test_the_p_value_is_the_level_at_which_the_interval_begins_to_hold_0() -> None:
    everyone, first = np.ones(100, dtype=bool), np.arange(100) < 55
    second = np.isin(np.arange(100), np.r_[0:40, 55:60])
    share = share_moved(People.counted(np.ones(100)), (everyone, first), (everyone, second))
    p, mcnemar = share.p_value(), stats.binomtest(5, 20).pvalue
    assert 0.3 * mcnemar < p < 3 * mcnemar
    below, above = share.interval(p * 1.01), share.interval(p * 0.99)
    assert float(below.high or 0) < 0 <= float(above.high or 0)


@pytest.mark.parametrize("persons", [False, True])
def test_recourse_is_paired_over_whom_either_model_rejects(base: Path, persons: bool) -> None:
    recourse = {"recourse": {"steps": [0, 0.5], "actionable": ["hours", "skill"], "permutations": 19}}
    stricter = {"model": {"train": "logistic"}, "threshold": 0.6}
    document = spec(recourse, compare=stricter, model={"train": "logistic"})
    if persons:
        people = pd.read_csv(base / "people.csv").assign(id=range(N))
        other = people.assign(skill=people["skill"] - 1)
        pd.concat([people, other]).to_csv(base / "rows.csv", index=False)
        document["data"] |= {"path": "rows.csv", "person": "id"}
        runs = [run(base, spec(recourse, data=document["data"], model=each))
                for each in (document["model"], {"train": "forest"})]  # fmt: skip
        assert runs[0].audits[0].result.rows != runs[1].audits[0].result.rows
        assert not audits.compare(*runs).audits[0].tested, "of other rows of the same persons"
    found = run(base, document)
    first, second = found.audits[0].result, found.compared.second.audits[0].result
    assert second.n_rejected > first.n_rejected
    row = change(found, "recourse", "by_alpha[0.5].reclassified")
    values = [result.by_alpha[1].reclassified.value for result in (first, second)]
    assert row.change.value == pytest.approx(values[1] - values[0])
    assert (row.change.low is not None, row.change.n) == (True, second.n_rejected)


def test_who_is_decided_otherwise_is_counted_and_listed(base: Path, found: RunResult, monkeypatch) -> None:
    people = pd.read_csv(base / "people.csv")
    first, second = people["now"] >= 0.5, people["then"] >= 0.5
    changes = found.compared.changes
    whole = changes.decided[0]
    assert (whole.gained, whole.lost) == ((second & ~first).sum(), (first & ~second).sum())
    assert list(changes.people.index) == [k + 1 for k in np.flatnonzero(first != second)]
    assert changes.people["second score"].tolist() == people["then"][first != second].tolist()
    assert [row.group for row in changes.decided] == ["everyone", "f", "m"]
    assert changes.decided_frame()["changed"][0] == pytest.approx((first != second).mean())
    monkeypatch.setattr(comparison, "_MOST", 1)
    for each, n in ((decided_exhibit(changes), 2), (change_exhibit(changes.audits[0]), 9)):
        assert f"1 of {n} " in each.caption
    paid = people["paid"] == 1
    assert changes.accuracy.change.value == pytest.approx((second == paid).mean() - (first == paid).mean())


def test_equal_models_change_exactly_nothing(base: Path) -> None:
    found = run(base, spec("groups", compare={"model": {"predictions": {"score": "same"}}}))
    changes = found.compared.changes
    assert re.findall(r"\d+", changes.finding) == ["300"]
    assert not len(changes.people)
    for each in changes.audits:
        assert {row.change.value for row in each.rows if row.change.low is not None} == {0.0}
        assert each.verdict != "evidence of a difference"
    assert changes.finding in render_report(found, template="comparison")  # though nothing can be drawn
    once = some(pd.read_csv(base / "people.csv").head(40), "now")  # one model, so that it is known of others
    [same] = audits.compare(once, once).audits
    assert same.verdict == "no material difference"
    assert {(row.change.low, row.change.high) for row in same.rows if row.verdict} == {(0.0, 0.0)}


def test_a_change_of_rare_decisions_is_held_to_a_ratio_as_they_are(base: Path) -> None:
    rare, rarer = ({"predictions": {"score": name}} for name in ("rare", "rarer"))
    found = run(base, spec({"flipset": PAIR}, {"explain": PAIR}, model=rare, compare={"model": rarer}))
    rate = pd.read_csv(base / "people.csv")["rarer"].ge(0.5).mean()
    for each in found.compared.changes.audits:
        assert each.judged.immaterial_high == pytest.approx(0.2 * rate)
        assert each.judged.limit_name == "ratio of 0.8"


def test_it_is_saved_loaded_and_reported(found: RunResult, tmp_path: Path) -> None:
    found.save(tmp_path)
    again, document = RunResult.load(tmp_path), found.to_json()
    assert again.to_json() == json.loads(json.dumps(document))
    jsonschema.validate(document, results_schema())
    assert {"compared-changes", "second-groups-table"} <= set(again.tables)
    changes = again.compared.changes
    assert changes.finding in render_report(again, template="comparison")
    assert first(found) == (changes.verdict, changes.judged.badge_text, changes.finding)
    assert changes.judged.badge_text in changes._repr_html_()
    drawn = media(changes.figure())["application/vnd.plotly.v1+json"]["layout"]["yaxis"]["tickvals"]
    shown = [row for row in changes.audits[0].rows if row.verdict and row.kind != "number"]
    assert len(drawn) == len(shown) > 0


def test_people_with_several_rows_count_once(base: Path, found: RunResult) -> None:
    people = pd.read_csv(base / "people.csv").assign(id=range(N))
    pd.concat([people, people]).to_csv(base / "twice.csv", index=False)
    document = spec("groups", compare=THEN)
    document["data"] |= {"path": "twice.csv", "person": "id"}
    where = "table[sex: f].differences.selection_rate"
    doubled, once = (change(each, "groups", where).change for each in (run(base, document), found))
    assert doubled.value == pytest.approx(once.value)
    assert doubled.high - doubled.low == pytest.approx(once.high - once.low, rel=0.06)


@pytest.mark.parametrize(
    ("compare", "refusal"),
    [
        ("boosting", ("compare", "'boosting'", "compare: {model: {train: boosting}}")),
        ({"model": {"train": "logistic"}, "name": "B"}, ("compare.name", "threshold")),
        ({"model": {"predictions": {"score": "absent"}}}, ("compare.model.predictions.score", "'absent'")),
        ({"model": {"predictions": {"score": "holes"}}}, ("compare.model.predictions.score", "1 of 300")),
        ({"model": {"train": "logistic"}, "threshold": 7}, ("compare.threshold", "7.0")),
        ({**THEN, "threshold": {"sex": {"f": 0.5}}}, ("compare.threshold.sex", "'m'")),
    ],
)
def test_what_is_wrong_with_the_second_model_is_told(base: Path, compare: Any, refusal: Any) -> None:
    with refused(*refusal):
        run(base, spec("groups", compare=compare))


def test_the_gate_counts_what_grows_with_the_second_model(base: Path, found: RunResult, alone: Any) -> None:
    gate = read_gate({"baseline": {"slack": 0.0, "on": "lower"}})
    narrowed = judge(found, gate)
    assert narrowed.checks
    assert not narrowed.stopped
    turned = run(base, spec("groups", model=THEN["model"], compare={"model": spec()["model"]}))
    assert any("selection_rate" in item.name for item in judge(turned, gate).stopped)
    with refused("gate.baseline.path"):
        judge(alone[0], gate)


def some(frame: pd.DataFrame, score: str, **more: Any) -> Any:
    """Audit a score's decisions about some people."""
    told: dict[str, Any] = {"favorable": 1, "protected": ["sex"], "features": ["skill", "hours"]}
    told["audits"] = "groups"
    return audits.audit(None, frame, "paid", scores=score, **told | more)


def moves(changes: Any) -> dict[str, Any]:
    rows = [row for row in changes.audits[0].rows if row.verdict is not None]
    return {row.where: (row.change.value, row.change.low, row.change.high) for row in rows}


@pytest.mark.parametrize("form", ["permuted", "renumbered", "by person"])
def test_the_same_people_are_paired_in_any_order(base: Path, form: str) -> None:
    people = pd.read_csv(base / "people.csv").assign(who=lambda each: [f"p{k}" for k in range(len(each))])
    mixed, more = people.sample(frac=1, random_state=3), {}
    mixed = mixed if form == "permuted" else mixed.reset_index(drop=True)
    if form == "by person":  # who cannot be told apart by what is known of them
        people, mixed = (each.assign(skill=0.0, hours=1) for each in (people, mixed))
        more = {"person": "who"}
    first, straight, other = (
        some(frame, score, **more) for frame, score in ((people, "now"), (people, "then"), (mixed, "then"))
    )
    expected, found = audits.compare(first, straight), audits.compare(first, other)
    assert (found.notes, found.decided) == ((), expected.decided)
    assert moves(found).keys() == moves(expected).keys()
    for where, change in moves(expected).items():
        assert moves(found)[where] == pytest.approx(change, abs=1e-9)


def test_one_model_on_other_people_changes_nothing(base: Path) -> None:
    """Halves with equal row numbers are other people: two samples, and nobody is decided otherwise."""
    people = pd.read_csv(base / "people.csv")
    halves = people[: N // 2], people[N // 2 :].reset_index(drop=True)
    matched = {"barycenter": {"permutations": 19, "rounds": 0}}
    found = audits.compare(*(some(half, "now", audits={"groups": {}, **matched}) for half in halves))
    whose = [row for row in found.audits[1].rows if "transparency" in row.where]
    assert {row.change.low for row in whose} == {None}, "they take the matching as given"
    assert (found.decided, len(found.notes)) == ((), 1)
    for row in found.audits[0].rows:
        assert row.change.value == pytest.approx(row.second.value - row.first.value)
        if row.where == "table[sex: f].selection_rate":
            assert row.change.low < 0 < row.change.high
            separate = (row.first.high - row.first.low) ** 2 + (row.second.high - row.second.low) ** 2
            assert row.change.high - row.change.low >= 0.95 * separate**0.5
    overlapping = audits.compare(some(people[:200], "now"), some(people[100:], "now"))
    assert re.search(r"\b100\b", overlapping.notes[0])
    assert not overlapping.decided
    for other in ({"favorable": 0}, {"protected": "count"}):  # of another answer, or other groups: no change
        assert not moves(audits.compare(some(people, "now"), some(people, "now", **other)))


def test_decisions_about_people_without_a_label_count(base: Path, tmp_path: Path) -> None:
    """The second model declines women whose outcome is not known, as a count table."""
    frame = pd.read_csv(base / "people.csv")
    unknown = frame.index % 3 == 0
    frame["paid"] = frame["paid"].where(~unknown)
    frame["first"] = (frame["now"] > 0.5).astype(int)
    frame["second"] = frame["first"].mask(unknown & (frame["sex"] == "f"), 0)
    frame.to_csv(tmp_path / "people.csv", index=False)
    first, second = ({"predictions": {"label": name}} for name in ("first", "second"))
    found = run(tmp_path, spec(model=first, compare={"model": second}, search="off")).compared
    changes = found.changes
    whole, women, men = changes.decided
    moved = frame["first"] != frame["second"]
    assert (whole.n, whole.gained, whole.lost) == (N, 0, moved.sum())
    assert (women.lost, men.lost) == (moved.sum(), 0)
    assert set(changes.people["favorable label"].isna()) == {True}


@pytest.mark.parametrize("weights", [None, "count"])
def test_a_model_trained_here_and_stored_scores_are_compared_on_those_held_out(
    base: Path, weights: Any
) -> None:
    document = spec("groups", model={"train": "logistic"}, compare=THEN)
    document["data"] |= {"weights": weights} if weights else {}
    found = run(base, document)
    sizes = [row.n for row in found.audits[0].result.table]
    assert [row.n for row in found.compared.second.audits[0].result.table] == sizes
    assert found.compared.changes.decided[0].n == sum(sizes)
    everyone = pd.read_csv(base / "people.csv")["count"].sum() if weights else N
    assert sum(sizes) == pytest.approx(0.3 * everyone, abs=6)


TREATED = {"treated": {"protected": ["g"], "amounts": [0.2]}}
ALSO = {"also": {"groups": {}}, "level": 0.1, "measure": "true_positive_rate"}
MITIGATION = {"mitigation": TREATED["treated"] | ALSO}


def treatable(*asked: Any, **changes: Any) -> dict[str, Any]:
    document = spec(*asked, model={"train": "logistic"}, **changes)
    return document | {"data": document["data"] | {"protected": ["g"], "features": ["skill", "hours", "g"]}}


@pytest.fixture(scope="module")
def refused_more(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """900 people of three groups; the smallest had been refused more often."""
    folder = tmp_path_factory.mktemp("treated")
    rng = np.random.default_rng(1)
    group, skill = rng.choice(list("abc"), 900, p=[0.5, 0.3, 0.2]), rng.normal(size=900)
    paid = (skill + rng.normal(size=900) - 1.2 * (group == "c") > 0).astype(int)
    frame = pd.DataFrame({"g": group, "skill": skill, "hours": rng.integers(1, 60, 900), "paid": paid})
    frame.to_csv(folder / "people.csv", index=False)
    return folder


def test_the_treated_model_is_the_one_that_mitigation_chose(refused_more: Path) -> None:
    found = run(refused_more, treatable(MITIGATION, "groups", compare=TREATED))
    mitigation, changes = found.audits[0].result, found.compared.changes
    step = mitigation.steps[mitigation.chosen]
    assert mitigation.chosen > 0
    assert mitigation.steps[0].also[0].verdict == "evidence of a difference"
    assert not any("also" in item.name for item in statements(found))  # no correction of the run knows it
    group = change(found, "groups", "table[g: c].selection_rate")
    assert group.second.value == pytest.approx(step.favorable_in.value)
    assert group.first.value == pytest.approx(mitigation.steps[0].favorable_in.value)
    assert any(f"{step.added} " in note for note in changes.notes)
    told = changes.audits[0]  # not paired: it counts in no correction
    assert told.judged.interval.low is None
    assert told.rows
    assert all(each.change.low is None and each.change.method for each in told.rows)
    own = mitigation.steps[0].accuracy.value
    assert change(found, "mitigation", "steps[0].accuracy").first.value == own
    rest = Changes(changes.models, changes.audits[1:])
    assert [each.verdict for each in rest.across()] == [each.verdict for each in changes.across()][1:]
    assert told.headline in html.unescape(render_report(found, template="comparison"))


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"compare": {**TREATED, "model": {"train": "mlp"}}}, ("compare", "model", "treated")),
        ({"compare": {"treated": {"also": {}}}}, ("compare.treated.also", "audits")),
        ({"compare": {"treated": {"amounts": [2]}}}, ("compare.treated.amounts[0]", "2")),
        ({"compare": {"treated": {"support": 0.9}}}, ("compare.treated.support", "0.9")),
    ],
)
def test_what_is_wrong_with_the_treatment_is_told(refused_more: Path, changes: Any, refusal: Any) -> None:
    with refused(*refusal):
        run(refused_more, treatable("groups", **changes))
