"""The outcome-transport audit: by hand, the slow way, few people, blurred couplings, and bad input."""

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
from benchmarks.samples import admissions
from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import QUICK, A, B, even, flows_of, three_classes
from tests.refused import refused


@settings(max_examples=5)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(["l2", "l1", "l2_squared", "l1_squared"]))
def test_against_the_slow_way(seed, ties, distance):
    """Every pair looked at, mass in ties spread by hand."""
    frame = crowd(40, seed=seed, ties=ties)
    subject = scored(frame)
    result = flows_of(subject, source=A, target=B, distance=distance, **QUICK)
    z, score = subject.space.encode(subject.data.frame), frame["score"].to_numpy()
    ours, theirs = np.flatnonzero(frame["group"] == "a"), np.flatnonzero(frame["group"] == "b")
    plan = even(score[ours], score[theirs])
    far = cdist(z[ours], z[theirs], "cityblock" if distance.startswith("l1") else "sqeuclidean")
    far = {"l2": np.sqrt(far), "l1_squared": far**2}.get(distance, far)
    value = (plan * far).sum(axis=1) / plan.sum(axis=1)
    assert result.people["bias"].to_numpy() == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert result.people["normalised"].to_numpy() == pytest.approx(value / far.max(axis=1), rel=1e-9)
    assert result.bias[0].mean.value == pytest.approx(value.mean())
    assert result.bias[0].total == pytest.approx(value.sum())
    apart = (plan * np.abs(score[ours][:, None] - score[theirs])).sum()
    assert result.wasserstein.value == pytest.approx(np.sqrt(2) * apart, abs=1e-12)
    assert result.wasserstein_orders["order_1"].value == result.wasserstein.value
    most = np.where(plan > 0, -far, -np.inf).argmax(axis=1)  # the most similar of those mapped to
    assert result.people["counterpart"].tolist() == subject.data.frame.index[theirs[most]].tolist()
    for r, row in enumerate(result.flows.rows):
        for c, column in enumerate(result.flows.columns):
            mine = (score[ours] >= 0.5) == ("unfavorable" not in row)
            yours = (score[theirs] >= 0.5) == ("unfavorable" not in column)
            assert result.flows.mass[r][c] == pytest.approx(plan[np.ix_(mine, yours)].sum())


@pytest.mark.parametrize("against", ["label", None])
def test_invariants(against):
    """Shares sum to 1, the decomposition adds up, values lie in their ranges, row order says nothing."""
    frame = crowd(60, seed=3, groups="abc")
    kw = {"against": "label"} if against else {"source": A, "target": {"group": {"not": "a"}}}
    result = flows_of(scored(frame), outcome="decision", **kw, **QUICK)
    assert np.array(result.flows.share).sum(axis=1) == pytest.approx(1.0)
    assert np.array(result.flows.mass).sum() == pytest.approx(1.0)
    bias = {row.group: row for row in result.bias}
    for name, amounts in zip(result.decomposition.rows, result.decomposition.amount, strict=True):
        assert sum(amounts) == pytest.approx(bias[name].mean.value)
    assert all(item.exact and item.low <= item.value <= item.high for item in result.tie_range)
    groups = [row for row in result.bias if row.level == "group"]
    assert sum(row.total for row in groups) == pytest.approx(result.bias[0].total)
    low, share, high = (np.array(getattr(result.flows, name)) for name in ("low", "share", "high"))
    assert ((low <= share + 1e-12) & (share <= high + 1e-12)).all()
    again = flows_of(scored(frame.sample(frac=1, random_state=3)), outcome="decision", **kw, **QUICK)
    assert [row.mean.value for row in again.bias] == pytest.approx([row.mean.value for row in result.bias])
    assert [r.low for r in again.tie_range] == pytest.approx([r.low for r in result.tie_range], abs=1e-9)


def test_roles_and_their_bias():
    """Figure 5: an audit of one role's features alone gives each person the bias of that role."""
    frame = crowd(40, seed=4)
    subject = scored(frame, roles={"actionable": ("x",), "mutable": (), "immutable": ("z",)})
    asked = {"source": A, "target": B, "permutations": 0, "draws": 0}
    result, only = flows_of(subject, **asked), flows_of(subject, features="actionable", **asked)
    assert {row.role for row in result.by_role} == {"actionable", "immutable"}
    for row in result.by_role:
        if row.role != "actionable" or row.level == "subgroup":
            continue
        people = only.people if row.level == "all" else only.people[only.people["group"] == row.group]
        ranked = np.sort(people["bias"].to_numpy())
        at = np.ceil(np.array(SHARES) * len(ranked) - 1e-9).astype(int) - 1
        assert row.quantiles == pytest.approx(ranked[at])
        assert row.bias.value == pytest.approx(ranked.mean())
    assert "roles" in {exhibit.key for exhibit in AUDITS["outcome_transport"].section(result).exhibits}


def test_a_model_and_its_column_of_scores_lie_as_far_apart():
    """One norm for a probability, whoever gives it (Eq. 10): √2 for a difference of 1."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=300), "group": rng.choice(["a", "b"], 300)})
    frame["label"] = (frame["x"] + rng.normal(size=300) > 0).astype(int)
    frame["other"] = rng.random(300)
    spec = DataSpec(label="label", favorable=1, protected=("group",), features=("x",))
    model = make_subject(build_data(frame, spec), model_spec({"train": "logistic"}))
    held = model.data.frame.assign(given=1 - model.scores, other=1 - model.data.frame["other"])
    risk = model_spec({"predictions": {"score": "given", "higher_is": "unfavorable"}})
    column = make_subject(build_data(held, spec), risk)
    for ours, theirs in (
        ({"source": A, "target": B}, {"source": A, "target": B}),
        ({"against": {"score": "other"}}, {"against": {"score": "other", "higher_is": "unfavorable"}}),
    ):
        first, found = flows_of(model, **ours, **QUICK), flows_of(column, **theirs, **QUICK)
        assert found.outcome == first.outcome == "probability"
        assert found.wasserstein.value == pytest.approx(first.wasserstein.value, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "declined", "verdict"), [(8, 0, INSUFFICIENT), (60, 1, INSUFFICIENT), (300, 0, NO_MATERIAL)]
)
def test_few_who_all_get_the_same_decision_are_not_cleared(n, declined, verdict):
    """Resamples of one outcome show no chance: the interval is that of the rates."""
    people = pd.DataFrame({"sex": ["f", "m"] * (n // 2), "x": np.linspace(0, 1, n)})
    approved = np.ones(n, int)
    approved[1 : 2 * declined : 2] = 0
    asked = {
        "outcome_transport": {"source": {"sex": "f"}, "target": {"sex": "m"}, "draws": 99, "permutations": 99}
    }
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


def test_round_trip_figures_cells_and_rows_saved_before(tmp_path):
    result = flows_of(scored(crowd(60, seed=9)), against="label", outcome="decision", draws=20)
    save_result(result, tmp_path, "outcome_transport")
    assert plain(load_result(OutcomeTransportResult, tmp_path, "outcome_transport")) == plain(result)
    section = AUDITS["outcome_transport"].section(result)
    assert all(alt_text(exhibit.figure()) for exhibit in section.exhibits)
    row, column = result.flows.rows[0], result.flows.columns[0]
    inside = result.cell(row, column)
    theirs = result.counterparts_of(inside.index[0], column)
    assert set(theirs["subgroup"]) == {column}
    assert theirs["share"].sum() == pytest.approx(inside["share"].iloc[0])
    mass = (inside["share"] * inside["people"]).sum() / result.n_source
    assert mass == pytest.approx(result.flows.mass[0][0])
    # a bias row is one estimate; rows saved before judgments were kept still open
    rows = result.to_json()["bias"]
    assert list(rows[1])[:7] == ["group", "level", "mean", "low", "high", "n", "method"]
    path = tmp_path / "outcome_transport.json"
    values = json.loads(path.read_text())
    assert values.pop("judged")["verdict"] == result.verdict
    before = [{key: value for key, value in one.items() if key != "difference"} for one in rows]
    path.write_text(json.dumps(values | {"bias": before, "verdict": "no evidence at this size"}))
    again = load_result(OutcomeTransportResult, tmp_path, "outcome_transport")
    assert [one.mean for one in again.bias] == [one.mean for one in result.bias]
    assert again.verdict == "insufficient evidence"


BAD = [
    ({"source": A}, ("outcome_transport.target",)),
    ({"source": A, "target": B, "against": "label"}, ("outcome_transport",)),
    ({"source": A, "target": A}, ("outcome_transport.target",)),
    ({"source": {"group": "z"}, "target": B}, ("group.group", "'group'")),
    ({"against": "label", "outcome": "score"}, ("outcome_transport.outcome",)),
    ({"against": {"score": "nope"}}, ("outcome_transport.against.score",)),
    ({"against": {"score": "score", "label": "label"}}, ("outcome_transport.against",)),
    ({"against": {"train": "logistic"}}, ("outcome_transport.against.train",)),
    ({"against": {"path": "nope.onnx"}}, ("outcome_transport.against.path",)),
    ({"against": {"path": "model.pkl"}}, ("outcome_transport.against.path",)),
    ({"against": {"label": "label", "higher_is": "favorable"}}, ("outcome_transport.against.higher_is",)),
    ({"against": "truth"}, ("outcome_transport.against",)),
    ({"source": A, "target": B, "outcome": "classes"}, ("outcome_transport.outcome",)),
    ({"source": A, "target": B, "features": "mutable"}, ("outcome_transport.features",)),
    ({"by": ("x",)}, ("outcome_transport.by",)),
    ({"level": 2}, ("outcome_transport.level",)),
]


@pytest.mark.parametrize(("options", "refusal"), BAD)
def test_bad_input_in_one_sentence(options, refusal):
    with refused(*refusal):
        flows_of(scored(crowd(30)), **options)


def test_outcomes_that_cannot_be_measured_or_compared():
    people = crowd(30, ties=False)
    three, huge = (people.assign(score=people["score"] * times) for times in (3, 1e200))
    with refused("outcome_transport.outcome"):
        flows_of(scored(three), source=A, target=B, outcome="probability")
    with refused("outcome_transport", "1e+100"):
        flows_of(scored(huge), source=A, target=B)
    with refused("outcome_transport.source", "'rejected'"):
        flows_of(scored(crowd(30), threshold=-1), source="rejected", target="accepted")
    with refused("outcome_transport.against"):
        flows_of(scored(crowd(30).drop(columns="label")), against="label")


def test_blue_college_distance_is_the_theory():
    """§4.1: equal rates, yet √2 · 2 · rule · (1 − rule) apart."""
    people = admissions.generate(200, years=2, rule=0.25).rename(columns={"chance": "score"})
    people = people[["gpa", "school", "score"]].astype({"score": float})
    subject = scored(people, protected=("school",), features=("gpa",))
    for named in ({}, {"outcome": "probability"}):
        result = flows_of(subject, source={"school": "A"}, target={"school": "B"}, **named, **QUICK)
        assert result.wasserstein.value == pytest.approx(admissions.wasserstein(0.25), abs=1e-12)


@pytest.mark.parametrize("matching", ["entropic", "partial"])
def test_blurred_couplings_have_intervals(matching):
    asked = {"source": A, "target": B, "matching": matching, "share": 0.7, "permutations": 0}
    result = flows_of(scored(crowd(40, seed=6)), draws=9, **asked)
    means = [row.mean for row in result.bias if row.level != "subgroup"]
    assert result.wasserstein.low <= result.wasserstein.value <= result.wasserstein.high
    assert all(each.low < each.value < each.high for each in means)
    assert matching in result.wasserstein.method


def test_a_blurred_bias_counts_people_as_far_as_they_are_matched():
    """Half of the mass stays unmatched: the mean goes by what is matched, as flows and decomposition do."""
    frame = crowd(60, seed=3)
    result = flows_of(scored(frame), source=A, target=B, matching="partial", share=0.5, **QUICK)
    people = result.people
    kept = people[people["matched"] > 0]
    mean = np.average(kept["bias"], weights=kept["matched"] * kept["people"])
    assert people["matched"].mean() == pytest.approx(0.5, abs=0.02)
    assert result.bias[0].mean.value == pytest.approx(mean)
    bias = {row.group: row for row in result.bias}
    for name, amounts in zip(result.decomposition.rows, result.decomposition.amount, strict=True):
        if sum(amounts):
            assert sum(amounts) == pytest.approx(bias[name].mean.value)


def test_many_outcome_vectors_are_coupled_with_a_blur(monkeypatch):
    import audits.outcome_transport.audit as module

    monkeypatch.setattr(module, "_MAX_VECTORS", 20)
    monkeypatch.setattr(module, "_MAX_BLURRED", 30)
    frame, subject = three_classes()
    result = flows_of(subject, source=A, target=B, **QUICK)
    assert result.options["matching"] == "entropic"
    assert result.certificate.method.startswith("entropic")
    assert result.rows["used"] == 60
    assert result.rows["left_out"]["not drawn into the subsample"] == len(frame) - 60


def test_a_price_that_leaves_everybody_unmatched():
    frame = crowd(40, seed=6)
    frame["score"] = np.where(frame["group"] == "a", 0.0, 1.0)
    with refused("outcome_transport.price"):
        flows_of(scored(frame), source=A, target=B, matching="unbalanced", price=1e-5, **QUICK)
