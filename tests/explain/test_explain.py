"""What explains a gap: by hand, as properties, under simulation, against DoubleML, and bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from audits.data import DataSpec, build_data
from audits.data.spec import Weights
from audits.drawing.selected import of_value
from audits.drawing.style import alt_text
from audits.explain import ExplainOptions, explain, figures
from audits.explain.audit import people_of
from audits.explain.bins import levels_of
from audits.explain.doubly_robust import by_learners, contrast
from audits.explain.record import AUDIT
from audits.explain.text import headline, no_clearance_text
from audits.models import make_subject, model_spec
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from tests.refused import refused

A, B = {"group": "a"}, {"group": "b"}
NOT_FEATURES = {"group", "decision", "count", "person"}


def subject_of(frame: pd.DataFrame, model: dict | None = None, **data):
    features = tuple(name for name in frame.columns if name not in NOT_FEATURES)
    spec = DataSpec(
        **{"label": "decision", "favorable": 1, "protected": ("group",), "features": features, **data}
    )
    return make_subject(build_data(frame, spec), model_spec(model or {"predictions": {"label": "decision"}}))


def audited(frame: pd.DataFrame, *, rng: int = 0, data: dict | None = None, **options):
    """Audit with all features named, so that they can clear."""
    subject = subject_of(frame, **(data or {}))
    asked = {"source": A, "target": B, "draws": 1000, "explainers": subject.data.features, **options}
    return explain(subject, ExplainOptions(**asked), rng=rng)


def crowd(n: int, seed: int, *, within: float = 0.0, noise: int = 2) -> pd.DataFrame:
    """Two groups in three departments that admit 20, 50 and 80%; b applies where many get in."""
    rng = np.random.default_rng(seed)
    group = rng.random(n) < 0.5
    department = np.where(group, rng.choice(3, n, p=[0.6, 0.3, 0.1]), rng.choice(3, n, p=[0.1, 0.3, 0.6]))
    rate = 0.2 + 0.3 * department + np.where(group, within, 0.0)
    frame = pd.DataFrame({"department": department.astype(str), "group": np.where(group, "a", "b")})
    for k in range(noise):
        frame[f"noise{k}"] = rng.normal(size=n)
    return frame.assign(decision=(rng.random(n) < rate).astype(int))


def rule_of(columns: int, n: int, seed: int, shift: float = 0.5) -> pd.DataFrame:
    """Everyone is decided by one rule of normal columns, `n` people a group: nothing is left."""
    rng = np.random.default_rng(seed)
    source = np.repeat([True, False], n)
    x = rng.normal(size=(2 * n, columns)) + shift * source[:, None]
    frame = pd.DataFrame(x, columns=[f"x{k}" for k in range(columns)])
    return frame.assign(
        group=np.where(source, "a", "b"), decision=(x.sum(axis=1) > shift * columns / 2).astype(int)
    )


def masked(n: int, seed: int) -> pd.DataFrame:
    """The source is .8 sd better and held .8 sd higher; a column that says nothing is beside."""
    rng = np.random.default_rng(seed)
    source = np.repeat([True, False], n)
    skill = rng.normal(size=2 * n) + 0.8 * source
    passes = skill + 0.3 * rng.normal(size=2 * n) > 0.8 * source
    frame = pd.DataFrame({"skill": skill, "noise": rng.normal(size=2 * n)})
    return frame.assign(group=np.where(source, "a", "b"), decision=passes.astype(int))


def cancelling(n: int, seed: int) -> pd.DataFrame:
    """Parents of the source 40 points below the target, others 40 above; equal on average."""
    rng = np.random.default_rng(seed)
    source = np.repeat([True, False], n)
    parent = rng.random(2 * n) < 0.5
    rate = np.where(source, np.where(parent, 0.1, 0.9), 0.5)
    frame = pd.DataFrame({"child": np.where(parent, "yes", "no"), "noise": rng.normal(size=2 * n)})
    return frame.assign(group=np.where(source, "a", "b"), decision=(rng.random(2 * n) < rate).astype(int))


def admissions() -> pd.DataFrame:
    """UCB 1973: a are women, b men; counts by department and decision."""
    men = [(512, 313), (353, 207), (120, 205), (138, 279), (53, 138), (22, 351)]
    women = [(89, 19), (17, 8), (202, 391), (131, 244), (94, 299), (24, 317)]
    rows = [
        (group, department, decision, n)
        for group, table in (("a", women), ("b", men))
        for department, pair in zip("ABCDEF", table, strict=True)
        for decision, n in zip((1, 0), pair, strict=True)
    ]
    return pd.DataFrame(rows, columns=["group", "department", "decision", "count"])


def by_person(counted: pd.DataFrame) -> pd.DataFrame:
    """One row per person, in another order."""
    rows = counted.loc[counted.index.repeat(counted["count"])].drop(columns="count")
    return rows.sample(frac=1, random_state=1).reset_index(drop=True)


def test_admissions_to_the_digit_as_counts_and_as_people():
    counted = audited(admissions(), data={"weights": "count"})
    people = audited(by_person(admissions()))
    for found in (counted, people):
        assert found.gap.value == pytest.approx(-0.14165, abs=5e-6)
        assert found.together.unexplained.value == pytest.approx(0.00109, abs=5e-6)
        assert found.each[0].as_both == pytest.approx(0.03603, abs=5e-6)
        assert found.each[0].unexplained.value == found.together.unexplained.value
        assert found.verdict == NO_MATERIAL
        assert (found.n_source, found.n_target) == (1835, 2691)
        parts = (found.together.explained, found.together.unexplained, found.together.unsupported)
        assert sum(part.value for part in parts) == pytest.approx(found.gap.value)
    assert counted.judged == people.judged
    assert counted.levels == people.levels
    assert [row.level for row in counted.levels if not row.covered] == ["A", "B"]
    assert all(f"department {level}" in headline(counted) for level in "AB"), "an all-clear names them"


def test_a_gap_that_is_all_composition():
    found = audited(crowd(3000, 0, noise=0))
    assert found.gap.high < -0.2
    assert found.each[0].columns == ("department",)
    assert found.each[0].kind == "about 0 within"
    assert all(alt_text(exhibit.figure()) for exhibit in AUDIT.section(found).exhibits)
    assert found.verdict == NO_MATERIAL
    assert abs(found.values[0].difference.value) < 0.06
    unnamed = audited(crowd(3000, 0, noise=0), explainers=None)
    assert unnamed.judged.interval == found.judged.interval
    assert unnamed.judged.badge == "no verdict", "default columns may be proxies"


def test_one_rule_of_several_columns_leaves_nothing():
    """Evidence in 25 of 25 such worlds when columns that fit no cells were left out."""
    found = audited(rule_of(2, 300, 0))
    assert found.together.unexplained.low <= 0 <= found.together.unexplained.high
    assert found.verdict != EVIDENCE
    five = pd.DataFrame(np.random.default_rng(0).random((2000, 5)) < 0.5).astype(int).add_prefix("x")
    five["decision"] = (five.sum(axis=1) >= 3).astype(int)
    five["group"] = np.where(np.random.default_rng(1).random(2000) < 0.3 + 0.4 * five["x0"], "a", "b")
    assert audited(five).verdict == NO_MATERIAL


def test_masked_difference_is_seen():
    found = audited(masked(500, 0))
    assert abs(found.gap.value) < 0.06
    assert found.verdict == EVIDENCE
    assert found.judged.material
    assert found.together.unexplained.high < -0.15


def test_cancelling_differences_are_seen_at_their_levels():
    found = audited(cancelling(500, 0))
    left = found.together.unexplained
    assert left.low <= 0 <= left.high
    assert found.verdict == EVIDENCE
    assert found.judged.decided_by.startswith("level: child ")
    by_level = {row.level: row.difference for row in found.levels if row.attribute == "child"}
    assert by_level["yes"].high < -0.2
    assert by_level["no"].low > 0.2
    assert found.judged.interval in by_level.values()


def test_the_p_value_is_the_least_level_of_evidence():
    """At a level above it the interval leaves out 0, below it not: the run's correction can rest on it."""
    frame, asked = crowd(1200, 3, within=-0.07), {"explainers": ("department",), "draws": 20_000}
    found = audited(frame, **asked).judged
    assert found.verdict == EVIDENCE
    assert 0 < found.p_value < 0.05
    for factor in (1.1, 0.9):
        again = audited(frame, **asked, level=factor * found.p_value)
        assert (again.judged.verdict == EVIDENCE) == (factor > 1)


def test_a_reversal_holds_by_every_weighting():
    """a is admitted 15 points more often in each department, and less often in all."""
    found = audited(crowd(4000, 1, within=0.15, noise=0))
    assert found.gap.high < 0
    assert found.each[0].kind == "reversed"
    assert min(found.each[0].as_target, found.each[0].as_both) > 0
    assert found.verdict == EVIDENCE
    assert found.judged.interval.low > 0


def test_what_the_model_reads_is_exact():
    frame = crowd(400, 0, noise=1)
    subject = subject_of(frame, {"train": "logistic"})
    asked = {"source": A, "target": B, "draws": 1000}
    named = explain(subject, ExplainOptions(**asked, explainers=("department", "noise0")))
    left = named.together.unexplained
    assert (left.value, left.low, left.high) == (0.0, 0.0, 0.0)
    assert named.judged.interval == left
    assert named.verdict == NO_MATERIAL
    assert explain(subject, ExplainOptions(**asked)).judged.badge == "no verdict"
    part = explain(subject, ExplainOptions(**asked, explainers=("noise0",)))
    assert part.together.unexplained.low < part.together.unexplained.high
    few = frame.drop(frame.index[frame["group"] == "b"][19:]).reset_index(drop=True)
    known = explain(subject_of(few, {"train": "logistic"}, test_size=0.9), ExplainOptions(**asked))
    assert (known.judged.badge, known.judged.interval.value) == ("no verdict", 0.0)
    assert no_clearance_text(2) in headline(known), "what is known is not said to be unknown"
    label = explain(subject, ExplainOptions(**asked, explainers=("department", "noise0"), outcome="label"))
    assert label.together.unexplained.low < label.together.unexplained.high


def test_without_a_gap_no_column_is_called_a_proxy():
    found = audited(crowd(1200, 0).assign(decision=1), data={"label": None}, explainers=None)
    assert (found.source_rate.value, found.target_rate.value) == (1.0, 1.0)
    assert found.judged.badge == "no verdict"
    assert found.judged.reason != no_clearance_text(len(found.together.columns))


def test_no_verdict_without_comparable_people():
    thin = crowd(600, 5).assign(name=[f"n{k % 150}" for k in range(600)])
    found = audited(thin)
    assert found.overlap.share < 0.8
    assert found.judged.badge == "no verdict"
    apart = rule_of(2, 300, 0, shift=3.0)
    found = audited(apart)
    assert found.overlap.share < 0.8
    assert found.overlap.thin[0][2] < 0.5
    assert found.judged.badge == "no verdict"
    assert found.to_json()["overlap"]["share"] == found.overlap.share


def test_a_decision_in_other_words_neither_explains_nor_is_forgotten():
    people = crowd(2000, 4, within=-0.2, noise=0)
    people["words"] = np.where(people["decision"], "in", "out")
    people.loc[people.index % 7 == 0, "words"] = people["words"].str.upper()  # four words for two decisions
    people = people.groupby(list(people.columns), as_index=False).size().rename(columns={"size": "count"})
    data = {"weights": Weights("count", "counts")}
    judged = audited(people, data=data, explainers=None)
    assert judged.together.columns == ("department",)
    assert (judged.judged.verdict, judged.judged.people_needed) == (INSUFFICIENT, None)
    assert judged.judged.interval.high < 0
    alone = audited(people, data=data, explainers=("department",))
    assert alone.judged.verdict == EVIDENCE
    named = audited(people, data=data, explainers=("department", "words"))
    assert len(named.warnings) > len(alone.warnings)
    # what a model reads is a reason, whatever it tells
    asked = explain(subject_of(people, {"train": "logistic"}, **data), ExplainOptions(source=A, target=B))
    assert "words" in asked.together.columns


def test_it_agrees_with_double_ml():
    """The average effect on the treated of DoubleML, with its own learners, folds and intervals."""
    double = pytest.importorskip("doubleml")
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 3))
    source = rng.random(1500) < expit(0.7 * x[:, 0] - 0.4 * x[:, 1])
    decision = (rng.random(1500) < expit(x[:, 0] + 0.5 * x[:, 2] - 0.8 * source)).astype(int)
    frame = pd.DataFrame(x, columns=["x0", "x1", "x2"])
    subject = subject_of(frame.assign(group=np.where(source, "a", "b"), decision=decision))
    people, _ = people_of(subject, ExplainOptions(source=A, target=B), tuple(frame.columns))
    nuisance = by_learners(people, np.random.default_rng(0))
    ours = contrast(people, nuisance, nuisance.comparable)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = double.DoubleMLData.from_arrays(x, decision.astype(float), source.astype(float))
        np.random.seed(0)  # noqa: NPY002 - DoubleML deals its folds by it
        learner = LogisticRegression()
        theirs = double.DoubleMLIRM(table, learner, learner, n_folds=4, score="ATTE")
        theirs.fit()
    assert ours.value == pytest.approx(float(theirs.coef[0]), abs=0.5 * ours.error)
    assert ours.error == pytest.approx(float(theirs.se[0]), rel=0.15)


def test_explainers_by_default_and_by_name():
    frame = crowd(300, 2).assign(number=range(300), outcome=lambda table: table["decision"])
    data = {"roles": {"immutable": ["noise1"]}}
    # neither a role that is not one's own nor what says nothing of a person
    assert audited(frame, data=data, explainers=None).together.columns == ("department", "noise0")
    named = audited(frame, data=data, explainers=("noise1", "department"))
    assert named.together.columns == ("noise1", "department")
    nothing = audited(frame.assign(decision=np.arange(300) % 2), explainers=(), material=0.9)
    assert (nothing.each, nothing.verdict) == ((), "insufficient evidence")
    assert nothing.together.unexplained.value == pytest.approx(nothing.gap.value)
    assert alt_text(figures.values(nothing))


def _chosen(values: pd.Series, terms: list[dict]) -> np.ndarray:
    chosen, kind = np.ones(len(values), dtype=bool), type(values[0])
    for term in terms:
        chosen &= values.astype(str).isin(term["in"]) if "in" in term else True
        chosen &= values >= kind(term["at_least"]) if "at_least" in term else True
        chosen &= values < kind(term["below"]) if "below" in term else True
    return np.asarray(chosen)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.integers(12_000, 98_765, 400),
        lambda rng: 1_000_000 + rng.random(400),
        lambda rng: rng.lognormal(0, 8, 400) - 1,
        lambda rng: np.repeat(rng.random(14), 30) * 1e-7,
        lambda rng: np.r_[-1e308, rng.normal(0, 1, 400), 1e308],
        lambda rng: pd.Timestamp("2020-03-01") + pd.to_timedelta(rng.integers(0, 5e6, 400), unit="s"),
    ],
    ids=["incomes", "alike", "skewed", "tiny", "impossible", "moments"],
)
def test_a_level_is_selected_whole_by_its_name(draw):
    values = pd.Series(draw(np.random.default_rng(1)))
    kind = "datetime" if pd.api.types.is_datetime64_any_dtype(values) else "continuous"
    found = levels_of(values, kind, 20)
    names = list(found.names)
    assert all(len(name) <= 50 for name in names)
    for place in np.unique(found.code):
        chosen = _chosen(values, of_value("amount", names[place], names))
        np.testing.assert_array_equal(chosen, found.code == place)


@pytest.mark.parametrize(
    ("ask", "refusal"),
    [
        ({"explainers": ("group",)}, ("explain.explainers",)),
        ({"explainers": ("decision",)}, ("explain.explainers",)),
        ({"explainers": ("nope",)}, ("explain.explainers",)),
        ({"target": A}, ("explain.target",)),
        ({"source": {"group": "z"}}, ("explain.source.group", "'z'")),
        ({"outcome": "label", "data": {"label": None}}, ("explain.outcome", "'label'")),
    ],
)
def test_bad_options(ask, refusal):
    with refused(*refusal):
        audited(crowd(100, 7), **ask)


def test_labels_known_of_one_decision_alone_are_no_evidence():
    """Half of all labels are good; b is approved by merit, a by lot; the approved alone are known."""
    rng = np.random.default_rng(1)
    group, merit = np.tile(["a", "b"], 1000), rng.normal(size=2000)
    decision = np.where(group == "b", merit > 0, rng.random(2000) < 0.5)
    frame = pd.DataFrame({"x": rng.normal(size=2000), "group": group, "decision": decision})
    frame["good"] = np.where(decision, (merit > 0).astype(float), np.nan)
    subject = subject_of(frame, label="good", features=("x",))
    found = explain(subject, ExplainOptions(source=A, target=B, explainers=("x",), outcome="label"))
    assert found.judged.interval.high < 0
    assert (found.verdict, found.judged.people_needed) == (INSUFFICIENT, None)


def test_a_side_with_hardly_any_favorable_decision_is_not_known_exactly():
    """4% are approved, by the explainer alone; by the target's own spread this was evidence."""
    rng = np.random.default_rng(12)
    z = rng.normal(size=800)
    group = np.where(rng.random(800) < expit(1.2 * z), "a", "b")
    frame = pd.DataFrame({"z": z, "group": group, "decision": (z + rng.logistic(size=800) > 4).astype(int)})
    assert audited(frame).verdict == INSUFFICIENT


@pytest.mark.parametrize(("direct", "verdict"), [(0.0, INSUFFICIENT), (1.0, EVIDENCE)])
def test_what_is_missing_may_be_what_explains(direct, verdict):
    """Whoever decided knew x of everyone: among people of whom it is missing here, nothing is adjusted."""
    rng = np.random.default_rng(3)
    ours, noise = rng.random(4000) < 0.5, rng.normal(size=4000)
    x = rng.normal(size=4000) + np.where(ours, 0.0, 0.6)
    decided = expit(1.5 * x + noise - direct * ours) > rng.random(4000)
    frame = pd.DataFrame({"x": np.where(rng.random(4000) < 0.3, np.nan, x), "noise": noise})
    found = audited(frame.assign(group=np.where(ours, "a", "b"), decision=decided.astype(int)))
    assert found.judged.verdict == verdict
    assert found.together.unexplained.high < 0


def test_people_needed_settle_it():
    """The stated number settles it in 80% of worlds (.56 when it rested on the average alone)."""
    needed = audited(crowd(200, 3, noise=0), rng=3).judged.people_needed
    assert audited(crowd(2 * needed, 100, noise=0)).verdict == NO_MATERIAL
    assert audited(crowd(needed // 2, 100, noise=0)).verdict == INSUFFICIENT


def test_counts_from_1_to_500_tell_what_people_tell_with_learners():
    rng, n = np.random.default_rng(0), 60
    frame = pd.DataFrame({"x": np.round(rng.normal(size=n), 2), "z": np.round(rng.normal(size=n), 1)})
    frame["group"] = np.where(rng.random(n) < expit(frame["x"]), "a", "b")
    frame["decision"] = (rng.random(n) < expit(frame["x"] + frame["z"])).astype(int)
    frame["count"] = np.where(np.arange(n) < 3, 500, rng.integers(1, 40, n))
    counted = audited(frame, data={"weights": Weights("count", kind="counts")})
    assert counted.judged == audited(by_person(frame)).judged


def test_rows_of_one_person_are_one_person():
    frame = crowd(500, 3, noise=0)
    twice = pd.concat([frame, frame], ignore_index=True).assign(person=[*range(500), *range(500)])
    once, found = audited(frame), audited(twice, data={"person": "person"})
    one, two = once.together.unexplained, found.together.unexplained
    assert two.value == pytest.approx(one.value)
    assert two.high - two.low == pytest.approx(one.high - one.low, rel=0.03)
