"""The outcome-transport audit: by hand, published, as a property, against the slow way, and bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from audits.data import DataSpec, FeatureSpace, LabelCut, build_data
from audits.data.samples import admissions
from audits.errors import InputError, RunCancelled
from audits.figures import outcomes as figures
from audits.figures.style import alt_text
from audits.models import Subject, make_subject, model_spec
from audits.outcomes import OutcomeTransportResult, blue_college, outcome_transport
from audits.outcomes.matching import match_outcomes
from audits.outcomes.policies import equal_opportunity
from audits.reports.sections import SECTIONS
from audits.results import load_result, plain, save_result
from audits.runs.documents import load_document
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.outcomes.conftest import crowd, scored

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
A, B = {"group": "a"}, {"group": "b"}
QUICK = {"permutations": 19, "draws": 0}


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
    result = outcome_transport(by_hand, source=A, target=B, cost="squared_euclidean", **QUICK)
    sd = np.std([0, 1, 2, 3, 10, 11, 12, 23])
    assert result.wasserstein.value == pytest.approx(0.1)
    assert result.wasserstein_orders["order_1"].value == pytest.approx(0.1)
    assert result.people["bias"].tolist() == pytest.approx(np.array([10, 10, 10, 20]) / sd)
    assert result.people["counterpart"].tolist() == [4, 5, 6, 7]
    # the farthest is always the last person, at 23
    assert result.people["normalised"].tolist() == pytest.approx([10 / 23, 10 / 22, 10 / 21, 20 / 20])
    assert result.flows.rows == ("a, favorable", "a, unfavorable")
    assert result.flows.share == ((1.0, 0.0), (0.0, 1.0))
    everybody = result.bias[0]
    assert everybody.mean == pytest.approx(12.5 / sd)
    assert everybody.total == pytest.approx(50 / sd)
    assert result.verdict == "insufficient evidence"


def test_binary_outcomes_have_the_norm_of_two_classes(by_hand):
    result = outcome_transport(by_hand, source=A, target=B, outcome="decision", **QUICK)
    assert result.wasserstein.value == 0.0  # half are accepted in both groups
    other = outcome_transport(by_hand, source="rejected", target="accepted", outcome="decision", **QUICK)
    assert other.wasserstein.value == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("rule", [0.1, 0.25, 0.5])
def test_blue_college_distance_is_the_theory(rule):
    """§4.1: equal rates, yet √2 · 2 · rule · (1 − rule) apart."""
    people = admissions.generate(200, years=2, rule=rule).rename(columns={"chance": "score"})
    subject = scored(
        people[["gpa", "school", "score"]].assign(score=people["score"] + 0.0),
        protected=("school",),
        features=("gpa",),
    )
    # a column of scores has any scale, so its distance lacks the √2 of two classes
    result = outcome_transport(subject, source={"school": "A"}, target={"school": "B"}, **QUICK)
    assert result.wasserstein.value == pytest.approx(admissions.wasserstein(rule) / np.sqrt(2), abs=1e-12)
    named = outcome_transport(
        subject, source={"school": "A"}, target={"school": "B"}, outcome="probability", **QUICK
    )
    assert named.wasserstein.value == pytest.approx(admissions.wasserstein(rule), abs=1e-12)


def test_blue_college_simulation():
    table = blue_college(years=20, n=200)
    last = table[table["year"] == 20]
    assert last["impact_so_far"].between(0.85, 1.2).all()
    assert np.allclose(last["distance_so_far"], last["limit"])
    assert last["distance_so_far"].is_monotonic_increasing  # it shrinks with the rule
    assert "does not fall to 0" in alt_text(figures.blue_college(table))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from(["l2", "l1", "l2_squared", "l1_squared"]))
def test_against_the_slow_way(seed, ties, distance):
    """Every pair looked at, mass in ties spread by hand."""
    frame = crowd(40, seed=seed, ties=ties)
    subject = scored(frame)
    result = outcome_transport(subject, source=A, target=B, distance=distance, **QUICK)
    z = subject.space.encode(subject.data.frame)
    ours, theirs = np.flatnonzero(frame["group"] == "a"), np.flatnonzero(frame["group"] == "b")
    plan = _even(frame["score"].to_numpy()[ours], frame["score"].to_numpy()[theirs])
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


def _even(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Couple in order of outcome, each tie's mass spread evenly over its people."""
    levels = np.unique(np.concatenate([p, q]))
    up, down = (np.array([0, *[(v <= level).mean() for level in levels]]) for v in (p, q))
    plan = np.zeros((len(p), len(q)))
    for i, one in enumerate(levels):
        for j, other in enumerate(levels):
            mass = max(0.0, min(up[i + 1], down[j + 1]) - max(up[i], down[j]))
            mine, yours = p == one, q == other
            if mass > 0:
                plan[np.ix_(mine, yours)] = mass / (mine.sum() * yours.sum())
    return plan


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["label", None]))
def test_invariants(seed, against):
    """Shares sum to 1, the decomposition adds up, values lie in their ranges, row order says nothing."""
    frame = crowd(60, seed=seed, groups="abc")
    kw = {"against": "label"} if against else {"source": A, "target": {"group": {"not": "a"}}}
    result = outcome_transport(scored(frame), outcome="decision", **kw, **QUICK)
    assert np.array(result.flows.share).sum(axis=1) == pytest.approx(1.0)
    assert np.array(result.flows.mass).sum() == pytest.approx(1.0)
    bias = {row.group: row for row in result.bias}
    for name, amounts in zip(result.decomposition.rows, result.decomposition.amount, strict=True):
        assert sum(amounts) == pytest.approx(bias[name].mean)
    for item in result.tie_range:
        assert item.exact
        assert item.low <= item.value <= item.high
    groups = [row for row in result.bias if row.level == "group"]
    assert sum(row.total for row in groups) == pytest.approx(result.bias[0].total)
    assert np.all(np.array(result.flows.low) <= np.array(result.flows.share) + 1e-12)
    assert np.all(np.array(result.flows.high) >= np.array(result.flows.share) - 1e-12)
    again = outcome_transport(
        scored(frame.sample(frac=1, random_state=seed)), outcome="decision", **kw, **QUICK
    )
    assert [row.mean for row in again.bias] == pytest.approx([row.mean for row in result.bias])
    assert [r.low for r in again.tie_range] == pytest.approx([r.low for r in result.tie_range], abs=1e-9)


def test_a_row_of_weight_two_counts_as_two():
    frame = crowd(30, seed=3)
    frame["weight"] = np.random.default_rng(0).integers(1, 4, len(frame))
    twice = frame.loc[frame.index.repeat(frame["weight"])].reset_index(drop=True).drop(columns="weight")
    one = outcome_transport(scored(frame, weights="weight"), source=A, target=B, **QUICK)
    other = outcome_transport(scored(twice), source=A, target=B, **QUICK)
    assert one.wasserstein.value == pytest.approx(other.wasserstein.value)
    assert [row.mean for row in one.bias] == pytest.approx([row.mean for row in other.bias])
    assert [item.low for item in one.tie_range] == pytest.approx([item.low for item in other.tie_range])
    assert np.array(one.flows.high) == pytest.approx(np.array(other.flows.high))


def test_the_same_outcomes_are_no_distance_apart():
    frame = crowd(40, seed=1).assign(score=0.25)
    result = outcome_transport(scored(frame), source=A, target=B, permutations=99, draws=20)
    assert result.wasserstein.value == 0
    assert result.distance_p_value == 1.0
    assert any("All outcomes are the same" in warning for warning in result.warnings)
    assert result.verdict != "evidence of a difference"


def test_a_planted_difference_is_found_and_none_is_not():
    frame = crowd(400, seed=2, ties=False)
    worse = frame.assign(score=frame["score"] * np.where(frame["group"] == "a", 0.5, 1.0))
    found = outcome_transport(scored(worse), source=A, target=B, draws=50)
    assert found.verdict == "evidence of a difference"
    assert found.wasserstein.low > 0.1
    rng = np.random.default_rng(0)
    seen = [
        outcome_transport(
            scored(frame.assign(group=rng.permutation(frame["group"]))),
            source=A,
            target=B,
            draws=0,
            permutations=39,
            rng=k,
        ).distance_p_value
        for k in range(12)
    ]
    assert np.mean(np.array(seen) <= 0.05) < 0.3


def test_interval_covers_the_population():
    """The mean bias of a large population lies in the intervals of samples of it."""
    everyone = crowd(3000, seed=11)
    truth = outcome_transport(scored(everyone), source=A, target=B, **QUICK).bias[0].mean
    unit = scored(everyone).space.scale
    inside = 0
    for k in range(16):
        sample = everyone.sample(120, random_state=k).reset_index(drop=True)
        subject = scored(sample)
        result = outcome_transport(subject, source=A, target=B, draws=40, permutations=0, rng=k)
        # standardised by the sample, close to the population's unit
        ratio = np.mean([subject.space.scale[name][1] / unit[name][1] for name in ("x", "z")])
        inside += result.bias[0].low <= truth / ratio <= result.bias[0].high
    assert inside >= 12  # at 95 % fewer than 12 of 16 happen once in 10,000


def test_roles_and_their_bias():
    frame = crowd(40, seed=4)
    roles = {"actionable": ("x",), "mutable": (), "immutable": ("z",)}
    result = outcome_transport(scored(frame, roles=roles), source=A, target=B, permutations=0, draws=0)
    assert {row.role for row in result.by_role} == {"actionable", "immutable"}
    only = outcome_transport(
        scored(frame, roles=roles), source=A, target=B, features="actionable", permutations=0, draws=0
    )
    mean = next(row.bias.value for row in result.by_role if row.role == "actionable" and row.level == "all")
    assert only.bias[0].mean == pytest.approx(mean)


@pytest.mark.parametrize("matching", ["entropic", "unbalanced", "partial"])
def test_blurred_couplings_say_so(matching):
    frame = crowd(80, seed=6)
    result = outcome_transport(scored(frame), source=A, target=B, matching=matching, share=0.7, **QUICK)
    exact = outcome_transport(scored(frame), source=A, target=B, **QUICK)
    assert result.tie_range == ()
    assert result.certificate["slack"] is None
    assert any("blurred" in warning for warning in result.warnings)
    if matching == "entropic":
        # the blur and a per mille of misplaced people
        assert result.wasserstein.value == pytest.approx(exact.wasserstein.value, rel=0.02)
    if matching == "partial":
        assert result.unmatched["source"] == pytest.approx(0.3, abs=0.02)
    assert result.wasserstein.low is None  # not asked for


@pytest.mark.parametrize("matching", ["entropic", "unbalanced", "partial"])
def test_blurred_couplings_have_intervals(matching):
    frame = crowd(60, seed=6)
    kw = {"source": A, "target": B, "matching": matching, "share": 0.7, "permutations": 0}
    result = outcome_transport(scored(frame), draws=15, **kw)
    distance = result.wasserstein
    assert distance.low <= distance.value <= distance.high
    assert f"mean cost of the {matching} coupling; bootstrap" in distance.method
    assert all(row.low < row.mean < row.high for row in result.bias if row.level != "subgroup")


def test_a_blurred_bias_counts_people_as_far_as_they_are_matched():
    """Half of the mass stays unmatched: the mean goes by what is matched, as flows and decomposition do."""
    frame = crowd(60, seed=3)
    result = outcome_transport(scored(frame), source=A, target=B, matching="partial", share=0.5, **QUICK)
    people = result.people
    kept = people[people["matched"] > 0]
    mean = np.average(kept["bias"], weights=kept["matched"] * kept["people"])
    assert people["matched"].mean() == pytest.approx(0.5, abs=0.02)
    assert result.bias[0].mean == pytest.approx(mean)
    bias = {row.group: row for row in result.bias}
    for name, amounts in zip(result.decomposition.rows, result.decomposition.amount, strict=True):
        if sum(amounts):
            assert sum(amounts) == pytest.approx(bias[name].mean)


def test_an_entropic_plan_never_costs_less_than_the_least():
    """Sinkhorn that stopped early misses the marginals; the rest is matched in order."""
    rng = np.random.default_rng(1)
    p, q = rng.integers(0, 5, (900, 1)) / 4.0, rng.integers(0, 5, (800, 1)) / 4.0
    exact, blurred = match_outcomes(p, q), match_outcomes(p, q, matching="entropic", epsilon=0.001)
    assert blurred.cost >= exact.cost - 1e-12
    for side, axis in ((blurred.source, 1), (blurred.target, 0)):
        assert blurred.flow.sum(axis=axis) == pytest.approx(side.weights / side.weights.sum(), abs=1e-12)
    vectors = rng.dirichlet(np.ones(3), 50), rng.dirichlet(np.ones(3) * 2, 40)
    assert match_outcomes(*vectors, matching="entropic").cost >= match_outcomes(*vectors).cost - 1e-12


def test_many_outcome_vectors_are_coupled_with_a_blur(monkeypatch):
    import audits.outcomes.transport as module

    monkeypatch.setattr(module, "_MOST_VECTORS", 20)
    monkeypatch.setattr(module, "_MOST_BLURRED", 30)
    frame, subject = three_classes()
    result = outcome_transport(subject, source=A, target=B, **QUICK)
    assert result.options["matching"] == "entropic"
    assert result.certificate["method"].startswith("entropic")
    assert result.rows["used"] == 60
    assert result.rows["left_out"]["not drawn into the subsample"] == len(frame) - 60


class Softmax:
    """A real model of three classes, whose scores follow the column ``x``."""

    name, classes, columns, invents, sha256 = "softmax", ("low", "middle", "high"), ("x",), True, "0" * 64

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        logits = frame["x"].to_numpy()[:, None] * np.array([-1.0, 0.0, 1.0])
        return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


def three_classes() -> tuple[pd.DataFrame, Subject]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90).round(1), "group": rng.choice(["a", "b"], 90)})
    frame["label"] = np.select([frame["x"] > 0.6, frame["x"] > -0.4], ["high", "middle"], "low")
    data = build_data(frame, DataSpec(label="label", favorable="high", protected=("group",), features=("x",)))
    return frame, Subject(data, Softmax(), 0.5, FeatureSpace.fit(data), score_kind="probability")


def test_multi_class_outcomes():
    frame, subject = three_classes()
    result = outcome_transport(subject, source=A, target=B, permutations=19, draws=5)
    assert result.outcome == "classes"
    assert {name.split(", ")[1] for name in result.flows.rows} <= {"low", "middle", "high"}
    assert "outcome 3" in result.people.columns
    assert all(item.exact for item in result.tie_range)
    assert result.flows.low is None
    assert result.wasserstein_orders["order_2"] is None
    # probability vectors lie on a curve, so order along x is optimal for the cost of Eq. 10
    probabilities = Softmax().score(frame)
    ours, theirs = (np.flatnonzero(frame["group"] == one) for one in "ab")
    plan = _even(frame["x"].to_numpy()[ours], frame["x"].to_numpy()[theirs])
    in_order = (plan * cdist(probabilities[ours], probabilities[theirs])).sum()
    assert result.wasserstein.value <= in_order + 1e-9
    assert result.wasserstein.value == pytest.approx(in_order, rel=0.05)
    against = outcome_transport(subject, against="label", outcome="classes", permutations=0, draws=0)
    assert against.source == "label label"


def test_equal_opportunity_equalises_true_positive_rates():
    rng = np.random.default_rng(1)
    n = 4000
    group, y, scores = rng.integers(0, 2, n), rng.random(n) < 0.5, rng.random(n)
    scores = np.clip(scores + 0.2 * y - 0.25 * group, 0, 1)
    decided, unchanged = equal_opportunity(scores, scores >= 0.5, y, group, np.ones(n))
    rates = [decided[y & (group == g)].mean() for g in (0, 1)]
    before = [(scores >= 0.5)[y & (group == g)].mean() for g in (0, 1)]
    assert abs(before[0] - before[1]) > 0.1
    assert rates[0] == pytest.approx(rates[1], abs=2e-3)
    assert unchanged == []


def test_other_policies():
    frame = crowd(80, seed=8).assign(
        rival=lambda table: 1 - table["score"], said=lambda table: table["label"]
    )
    subject = scored(frame, features=("x", "z"))
    mirrored = outcome_transport(subject, against={"score": "rival"}, permutations=0, draws=0)
    assert mirrored.source == "column rival"
    said = outcome_transport(subject, against={"label": "said"}, permutations=0, draws=0)
    truth = outcome_transport(subject, against="label", outcome="decision", permutations=0, draws=0)
    assert said.wasserstein.value == truth.wasserstein.value


def test_scores_that_are_worse_when_higher_keep_their_direction():
    """A risk score held against another: mirrored columns and thresholds give the same audit."""
    frame = crowd(60, seed=5, ties=False)
    frame["rival"] = np.random.default_rng(2).random(len(frame))
    risky = frame.assign(score=1 - frame["score"], rival=1 - frame["rival"])
    features = ("x", "z")
    good = outcome_transport(scored(frame, features=features), against={"score": "rival"}, **QUICK)
    data = scored(risky, features=features).data
    model = model_spec({"predictions": {"score": "score", "higher_is": "unfavorable"}})
    subject = make_subject(data, model, threshold=0.5)
    bad = outcome_transport(subject, against={"score": "rival"}, **QUICK)
    assert bad.wasserstein.value == pytest.approx(good.wasserstein.value)
    assert bad.flows.rows == good.flows.rows
    assert np.array(bad.flows.share) == pytest.approx(np.array(good.flows.share))
    with pytest.raises(InputError, match="must be that of the audited scores"):
        outcome_transport(subject, against={"score": "rival", "higher_is": "favorable"}, **QUICK)


def test_a_decision_that_is_missing_is_no_decision():
    frame = crowd(40, seed=5)
    frame["said"] = frame["label"].astype(float).mask(frame.index == 7)
    with pytest.raises(InputError, match="1 of 40 values are missing"):
        outcome_transport(scored(frame, features=("x", "z")), against={"label": "said"}, **QUICK)


def test_the_number_behind_a_label_is_held_against_the_number_predicted():
    """Real outcomes: the truth is the label's own number, in its unit."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=80), "group": rng.choice(["a", "b"], 80)})
    frame["gpa"] = 3 + 0.5 * frame["x"] + rng.normal(size=80) * 0.1
    spec = DataSpec(
        label=LabelCut("gpa", at_least=3.0),
        protected=("group",),
        features=("x",),
        kinds={"gpa": "continuous"},
    )
    model = model_spec({"train": "logistic", "predict": "label"})
    subject = make_subject(build_data(frame, spec), model, test_size=0.5)
    result = outcome_transport(subject, against="label", **QUICK)
    assert result.outcome == "score"
    truth = np.sort(subject.data.frame["gpa"].to_numpy())
    predicted = np.sort(subject.scores)
    assert result.wasserstein.value == pytest.approx(np.abs(truth - predicted).mean())


def test_a_second_model_from_a_file(tmp_path):
    """Two files, one spec: both are part of what is remembered, and neither place is."""
    for name in ("hiring.csv", "hiring.onnx"):
        (tmp_path / name).write_bytes((SAMPLES / name).read_bytes())
    (tmp_path / "older.onnx").write_bytes((SAMPLES / "hiring.onnx").read_bytes())
    options = {"against": {"path": "older.onnx"}, "permutations": 0, "draws": 0}
    document = load_document(SAMPLES / "hiring.yaml") | {"audits": [{"outcome_transport": options}]}
    spec = parse_spec(document, tmp_path)
    assert [where for where, _, _ in spec.paths()][-1] == "audits[0].outcome_transport.against.path"
    result = execute(spec).audits[0].result
    assert result.source == "ONNX model older.onnx"
    assert result.wasserstein.value == 0
    key = spec.key(spec.digests())
    elsewhere = tmp_path / "moved"
    elsewhere.mkdir()
    for name in ("hiring.csv", "hiring.onnx", "older.onnx"):
        (elsewhere / name).write_bytes((tmp_path / name).read_bytes())
    moved = parse_spec(document, elsewhere)
    assert moved.key(moved.digests()) == key
    (elsewhere / "older.onnx").write_bytes((SAMPLES / "loans.onnx").read_bytes())
    assert moved.key(moved.digests()) != key
    with pytest.raises(InputError, match="inputs without a feature column"):
        execute(moved)
    (elsewhere / "older.onnx").unlink()
    with pytest.raises(InputError, match=r"outcome_transport\.against\.path must name an existing file"):
        moved.digests()


def test_shares_have_intervals_that_cover_the_population():
    everyone = crowd(3000, seed=11)
    truth = np.array(outcome_transport(scored(everyone), source=A, target=B, **QUICK).flows.share)
    inside = 0
    for k in range(10):
        sample = scored(everyone.sample(150, random_state=k).reset_index(drop=True))
        flows = outcome_transport(sample, source=A, target=B, draws=40, permutations=0, rng=k).flows
        low, high = np.array(flows.sampling_low), np.array(flows.sampling_high)
        assert (low <= np.array(flows.share)).all()
        assert (high >= np.array(flows.share)).all()
        inside += ((low <= truth) & (truth <= high)).all()
    assert inside >= 7  # at 95 % fewer than 7 of 10 happen once in 1,000


def test_json_keys_round_trip_figures_and_cell(tmp_path):
    result = outcome_transport(scored(crowd(60, seed=9)), against="label", outcome="decision", draws=20)
    values = result.to_json()
    assert {"wasserstein", "flows", "bias", "decomposition", "tie_range"} <= set(values)
    assert {"rows", "columns", "share"} <= set(values["flows"])
    assert {"group", "mean", "low", "high", "normalised"} <= set(values["bias"][0])
    assert set(values["wasserstein"]) == {"value", "low", "high", "n", "method"}
    save_result(result, tmp_path, "outcome_transport")
    again = load_result(OutcomeTransportResult, tmp_path, "outcome_transport")
    assert plain(again) == plain(result)
    pd.testing.assert_frame_equal(again.people, result.people, check_dtype=False)
    section = SECTIONS["outcome_transport"](result)
    assert all(alt_text(exhibit.figure) for exhibit in section.exhibits)
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
    one, other = (outcome_transport(subject, source=A, target=B, draws=20, rng=3) for _ in range(2))
    assert plain(one) == plain(other)

    def cancel(fraction: float, doing: str) -> None:
        if fraction > 0.3:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        outcome_transport(subject, source=A, target=B, progress=cancel)


def test_groups_of_one_have_no_interval():
    frame = crowd(41, seed=12)
    frame.loc[40, "group"] = "c"
    result = outcome_transport(scored(frame), against="label", outcome="decision", draws=20)
    alone = next(row for row in result.bias if row.group == "c")
    assert alone.low is None
    assert alone.high is None
    assert any("One person alone" in warning for warning in result.warnings)
    assert result.verdict != "no evidence at this size"


def test_rejected_and_accepted_scores_do_not_overlap_so_that_any_pairing_is_optimal():
    subject = scored(crowd(60, seed=7, ties=False))
    kw = {"source": "rejected", "target": "accepted"}
    plain = outcome_transport(subject, **kw, **QUICK)
    squared = outcome_transport(subject, cost="squared_euclidean", **kw, **QUICK)
    assert any("every pairing costs the same under the plain norm" in text for text in plain.warnings)
    assert not any("every pairing costs the same" in text for text in squared.warnings)
    assert np.array(plain.flows.share) == pytest.approx(np.array(squared.flows.share))
    assert (np.array(plain.flows.high) - np.array(plain.flows.low)).max() > 0.5
    assert np.array(squared.flows.high) == pytest.approx(np.array(squared.flows.low))


def test_the_interval_of_two_people_does_not_hide_the_others():
    frame = crowd(60, seed=12)
    frame.loc[[40, 41], "group"] = "c"
    result = outcome_transport(scored(frame), against="label", outcome="decision", draws=20, permutations=0)
    few = next(row for row in result.bias if row.group == "c")
    edge = figures.bias(result).layout.xaxis.range[1]
    assert few.high > edge > max(row.high for row in result.bias if row.level != "subgroup" and row.n > 2)


def test_a_subsample_is_counted():
    result = outcome_transport(scored(crowd(90, seed=13)), source=A, target=B, max_people=20, **QUICK)
    assert result.rows["used"] == 40
    assert result.rows["left_out"]["not drawn into the subsample"] == 50
    assert "left out at random" in result.warnings[0]


BAD = [
    ({"source": A}, r"outcome_transport\.target is missing"),
    ({"source": A, "target": B, "against": "label"}, "not both"),
    ({"source": A, "target": A}, "must not share people with the source"),
    ({"source": {"group": "z"}, "target": B}, "must be a value of 'group'"),
    ({"against": "label", "outcome": "score"}, "another scale"),
    ({"against": {"score": "nope"}}, "must be a column"),
    ({"against": {"score": "score", "label": "label"}}, "exactly one"),
    ({"against": {"train": "logistic"}}, "needs rows to train on"),
    ({"against": {"path": "nope.onnx"}}, r"against\.path must name an existing file"),
    ({"against": {"path": "model.pkl"}}, "can run code"),
    ({"against": {"label": "label", "higher_is": "favorable"}}, "is for a column of scores"),
    ({"against": "truth"}, "against"),
    ({"source": A, "target": B, "outcome": "classes"}, "one number a person"),
    ({"source": A, "target": B, "features": "mutable"}, "no column that role"),
    ({"by": ("x",)}, "must be a protected attribute"),
    ({"level": 2}, r"outcome_transport\.level"),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_input_in_one_sentence(options, words):
    with pytest.raises(InputError, match=words):
        outcome_transport(scored(crowd(30)), **options)


def test_probabilities_outside_their_range():
    frame = crowd(30).assign(score=lambda table: table["score"] * 3)
    with pytest.raises(InputError, match=r"must lie in \[0, 1\], but .* people another number"):
        outcome_transport(scored(frame), source=A, target=B, outcome="probability")


def test_a_price_that_leaves_everybody_unmatched():
    frame = crowd(40, seed=6)
    frame["score"] = np.where(frame["group"] == "a", 0.0, 1.0)
    with pytest.raises(InputError, match="leaves everybody unmatched"):
        outcome_transport(scored(frame), source=A, target=B, matching="unbalanced", price=1e-5, **QUICK)


def test_everyone_accepted_has_no_rejected_group():
    with pytest.raises(InputError, match="nobody in the audited data is in 'rejected'"):
        outcome_transport(scored(crowd(30), threshold=-1), source="rejected", target="accepted")


def test_no_label():
    with pytest.raises(InputError, match="the data name none"):
        outcome_transport(scored(crowd(30).drop(columns="label")), against="label")
