"""The outcome-transport audit: by hand, as a property, against the slow way, and what it gives back."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from audits.data import DataSpec, build_data
from audits.drawing.style import alt_text
from audits.errors import RunCancelled
from audits.models import make_subject
from audits.models.spec import model_spec
from audits.notebook import audit
from audits.outcome_transport import OutcomeTransportResult
from audits.outcome_transport import figures as figures
from audits.outcome_transport.result import SHARES
from audits.results import load_result, plain, save_result
from audits.runs.registry import AUDITS
from audits.stats import INSUFFICIENT, NO_MATERIAL
from audits.stats.intervals import newcombe
from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import QUICK, A, B, even, flows_of


@pytest.fixture
def by_hand():
    """Scores in order pair rows 0-4, 1-5, 2-6, 3-7; features differ by 10 each, and one person's by 20."""
    return scored(
        pd.DataFrame(
            {
                "x": [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 23.0],
                "group": ["a"] * 4 + ["b"] * 4,
                "score": [0.1, 0.2, 0.6, 0.7, 0.2, 0.3, 0.7, 0.8],
            }
        )
    )


def test_by_hand(by_hand):
    result = flows_of(by_hand, source=A, target=B, cost="squared_euclidean", **QUICK)
    sd = np.std([0, 1, 2, 3, 10, 11, 12, 23])
    assert result.wasserstein.value == pytest.approx(0.1 * np.sqrt(2))
    assert result.wasserstein_orders["order_1"].value == pytest.approx(0.1 * np.sqrt(2))
    assert result.people["bias"].tolist() == pytest.approx(np.array([10, 10, 10, 20]) / sd)
    assert result.people["counterpart"].tolist() == [4, 5, 6, 7]
    # the farthest is always the last person, at 23
    assert result.people["normalised"].tolist() == pytest.approx([10 / 23, 10 / 22, 10 / 21, 20 / 20])
    assert result.flows.rows == ("a, favorable", "a, unfavorable")
    assert result.flows.share == ((1.0, 0.0), (0.0, 1.0))
    everybody = result.bias[0]
    assert everybody.mean.value == pytest.approx(12.5 / sd)
    assert everybody.total == pytest.approx(50 / sd)
    assert result.verdict == "insufficient evidence"


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(["l2", "l1", "l2_squared", "l1_squared"]))
def test_against_the_slow_way(seed, ties, distance):
    """Every pair looked at, mass in ties spread by hand."""
    frame = crowd(40, seed=seed, ties=ties)
    subject = scored(frame)
    result = flows_of(subject, source=A, target=B, distance=distance, **QUICK)
    z = subject.space.encode(subject.data.frame)
    ours, theirs = np.flatnonzero(frame["group"] == "a"), np.flatnonzero(frame["group"] == "b")
    plan = even(frame["score"].to_numpy()[ours], frame["score"].to_numpy()[theirs])
    metric = "cityblock" if distance.startswith("l1") else "sqeuclidean"
    far = cdist(z[ours], z[theirs], metric)
    far = {"l2": np.sqrt(far), "l1_squared": far**2}.get(distance, far)
    value = (plan * far).sum(axis=1) / plan.sum(axis=1)
    assert result.people["bias"].to_numpy() == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert result.people["normalised"].to_numpy() == pytest.approx(value / far.max(axis=1), rel=1e-9)
    inside = frame["score"].to_numpy() >= 0.5
    for r, row in enumerate(result.flows.rows):
        for c, column in enumerate(result.flows.columns):
            mine = inside[ours] == ("unfavorable" not in row)
            yours = inside[theirs] == ("unfavorable" not in column)
            assert result.flows.mass[r][c] == pytest.approx(plan[np.ix_(mine, yours)].sum())


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from(["label", None]))
def test_invariants(seed, against):
    """Shares sum to 1, the decomposition adds up, values lie in their ranges, row order says nothing."""
    frame = crowd(60, seed=seed, groups="abc")
    kw = {"against": "label"} if against else {"source": A, "target": {"group": {"not": "a"}}}
    result = flows_of(scored(frame), outcome="decision", **kw, **QUICK)
    assert np.array(result.flows.share).sum(axis=1) == pytest.approx(1.0)
    assert np.array(result.flows.mass).sum() == pytest.approx(1.0)
    bias = {row.group: row for row in result.bias}
    for name, amounts in zip(result.decomposition.rows, result.decomposition.amount, strict=True):
        assert sum(amounts) == pytest.approx(bias[name].mean.value)
    for item in result.tie_range:
        assert item.exact
        assert item.low <= item.value <= item.high
    groups = [row for row in result.bias if row.level == "group"]
    assert sum(row.total for row in groups) == pytest.approx(result.bias[0].total)
    assert np.all(np.array(result.flows.low) <= np.array(result.flows.share) + 1e-12)
    assert np.all(np.array(result.flows.high) >= np.array(result.flows.share) - 1e-12)
    again = flows_of(scored(frame.sample(frac=1, random_state=seed)), outcome="decision", **kw, **QUICK)
    assert [row.mean.value for row in again.bias] == pytest.approx([row.mean.value for row in result.bias])
    assert [r.low for r in again.tie_range] == pytest.approx([r.low for r in result.tie_range], abs=1e-9)


def test_roles_and_their_bias():
    frame = crowd(40, seed=4)
    roles = {"actionable": ("x",), "mutable": (), "immutable": ("z",)}
    result = flows_of(scored(frame, roles=roles), source=A, target=B, permutations=0, draws=0)
    assert {row.role for row in result.by_role} == {"actionable", "immutable"}
    only = flows_of(
        scored(frame, roles=roles), source=A, target=B, features="actionable", permutations=0, draws=0
    )
    mean = next(row.bias.value for row in result.by_role if row.role == "actionable" and row.level == "all")
    assert only.bias[0].mean.value == pytest.approx(mean)
    # Figure 5: quantiles of the individual bias that an audit of that role's features alone gives each person
    for row in result.by_role:
        if row.role != "actionable" or row.level == "subgroup":
            continue
        people = only.people if row.level == "all" else only.people[only.people["group"] == row.group]
        ranked = np.sort(people["bias"].to_numpy())
        at = np.ceil(np.array(SHARES) * len(ranked) - 1e-9).astype(int) - 1
        assert row.quantiles == pytest.approx(ranked[at])
    ends = [end for end in figures.roles(result).data[0].x if end is not None]
    spread = [row.quantiles for row in result.by_role if row.level != "subgroup"]
    assert sorted(ends) == pytest.approx(sorted(end for each in spread for end in (each[0], each[-1])))
    assert "roles" in {exhibit.key for exhibit in AUDITS["outcome_transport"].section(result).exhibits}


def test_round_trip_figures_and_cell(tmp_path):
    result = flows_of(scored(crowd(60, seed=9)), against="label", outcome="decision", draws=20)
    assert set(result.to_json()["wasserstein"]) == {"value", "low", "high", "n", "method"}
    save_result(result, tmp_path, "outcome_transport")
    again = load_result(OutcomeTransportResult, tmp_path, "outcome_transport")
    assert plain(again) == plain(result)
    pd.testing.assert_frame_equal(again.people, result.people, check_dtype=False)
    section = AUDITS["outcome_transport"].section(result)
    assert all(alt_text(exhibit.figure()) for exhibit in section.exhibits)
    assert alt_text(figures.roles(result))
    row, column = result.flows.rows[0], result.flows.columns[0]
    inside = result.cell(row, column)
    person = inside.index[0]
    theirs = result.counterparts_of(person, column)
    assert set(theirs["subgroup"]) == {column}
    assert theirs["share"].sum() == pytest.approx(inside.loc[person, "share"])
    assert (inside["share"] * inside["people"]).sum() / result.n_source == pytest.approx(
        result.flows.mass[0][0]
    )


def test_same_seed_same_numbers_and_cancel():
    subject = scored(crowd(60, seed=10))
    one, other = (flows_of(subject, source=A, target=B, draws=20, rng=3) for _ in range(2))
    assert plain(one) == plain(other)

    def cancel(fraction: float, doing: str) -> None:
        if fraction > 0.3:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        flows_of(subject, source=A, target=B, progress=cancel)


def test_a_bias_row_is_one_estimate_and_rows_saved_before_open(tmp_path):
    result = flows_of(scored(crowd(60, seed=9)), against="label", outcome="decision", draws=20)
    row = result.to_json()["bias"][1]
    assert list(row)[:7] == ["group", "level", "mean", "low", "high", "n", "method"]
    assert (row["mean"], row["low"], row["high"]) == (
        result.bias[1].mean.value,
        result.bias[1].mean.low,
        result.bias[1].mean.high,
    )
    save_result(result, tmp_path, "outcome_transport")
    path = tmp_path / "outcome_transport.json"
    values = json.loads(path.read_text())
    before = [
        {key: value for key, value in one.items() if key != "difference"} for one in result.to_json()["bias"]
    ]
    judged = values.pop("judged")
    path.write_text(json.dumps(values | {"bias": before, "verdict": "no evidence at this size"}))
    again = load_result(OutcomeTransportResult, tmp_path, "outcome_transport")
    assert [one.mean for one in again.bias] == [one.mean for one in result.bias]
    assert again.verdict == "insufficient evidence"
    assert judged["verdict"] == result.verdict


@pytest.mark.parametrize("higher_is", ["favorable", "unfavorable"])
@pytest.mark.parametrize("against", [False, True])
def test_a_model_and_its_column_of_scores_lie_as_far_apart(higher_is, against):
    """One norm for a probability, whoever gives it (Eq. 10): √2 for a difference of 1."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=300), "group": rng.choice(["a", "b"], 300)})
    frame["label"] = (frame["x"] + rng.normal(size=300) > 0).astype(int)
    frame["other"] = rng.random(300)
    data = build_data(frame, DataSpec(label="label", favorable=1, protected=("group",), features=("x",)))
    model = make_subject(data, model_spec({"train": "logistic"}))
    held = model.data.frame.assign(given=model.scores if higher_is == "favorable" else 1 - model.scores)
    if higher_is == "unfavorable":
        held["other"] = 1 - held["other"]
    spec = DataSpec(label="label", favorable=1, protected=("group",), features=("x",))
    column = make_subject(
        build_data(held, spec), model_spec({"predictions": {"score": "given", "higher_is": higher_is}})
    )
    asked = {"source": A, "target": B} if not against else {}
    first = flows_of(model, **asked, **({"against": {"score": "other"}} if against else {}), **QUICK)
    second = {"score": "other", "higher_is": higher_is}
    found = flows_of(column, **asked, **({"against": second} if against else {}), **QUICK)
    assert found.outcome == first.outcome == "probability"
    assert found.wasserstein.value == pytest.approx(first.wasserstein.value, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "declined", "verdict"),
    [(8, 0, INSUFFICIENT), (60, 0, INSUFFICIENT), (60, 1, INSUFFICIENT), (1000, 0, NO_MATERIAL)],
)
def test_few_who_all_get_the_same_decision_are_not_cleared(n, declined, verdict):
    """Resamples of one outcome show no chance: the interval is that of the rates."""
    people = pd.DataFrame({"sex": ["f", "m"] * (n // 2), "x": np.linspace(0, 1, n)})
    approved = np.ones(n, int)
    approved[1 : 2 * declined : 2] = 0
    asked = {"outcome_transport": {"source": {"sex": "f"}, "target": {"sex": "m"}, "draws": 99}}
    told = {"favorable": 1, "protected": "sex", "audits": asked, "search": False}
    found = audit(None, people, np.arange(n) % 2, predictions=approved, **told).audits[0].result
    assert found.verdict == verdict
    gap = newcombe(n / 2, n / 2, n / 2 - declined, n / 2, level=0.05)
    assert found.judged.interval.high == pytest.approx(np.sqrt(2) * gap.high)
    one_score = audit(None, people, np.arange(n) % 2, scores=np.full(n, 0.7), **told).audits[0].result
    assert one_score.verdict == INSUFFICIENT
    assert one_score.judged.interval.low is None


def _between(scores: np.ndarray, **told: object):
    people = pd.DataFrame({"sex": np.repeat(["f", "m"], len(scores) // 2), "x": np.arange(len(scores))})
    asked = {"outcome_transport": {"source": {"sex": "f"}, "target": {"sex": "m"}, "draws": 99, **told}}
    given = {"favorable": 1, "protected": "sex", "audits": asked, "search": False}
    return audit(None, people, np.arange(len(scores)) % 2, scores=scores, **given).audits[0].result


def test_five_against_five_are_no_certain_distance():
    """All of one side and none of the other: resamples are all alike, and the truth need not be 1."""
    found = _between(np.repeat([1.0, 0.0], 5), outcome="decision").judged.interval
    gap = newcombe(5, 5, 0, 5)
    assert found.value == pytest.approx(np.sqrt(2))
    assert [found.low, found.high] == pytest.approx([np.sqrt(2) * gap.low, np.sqrt(2)])
    squared = _between(np.repeat([1.0, 0.0], 5), outcome="decision", cost="squared_euclidean").judged
    assert squared.interval.low == pytest.approx(np.sqrt(2 * gap.low))


def test_few_probabilities_nearly_alike_are_not_cleared():
    """A tenth of a group may have quite other ones, and ten people show nobody of them."""
    few = 0.5 + 0.001 * (np.arange(20) * 7 % 20)
    assert _between(few).verdict == INSUFFICIENT
    many = 0.5 + 0.001 * (np.arange(400) * 7 % 20)
    assert _between(many).verdict == NO_MATERIAL
