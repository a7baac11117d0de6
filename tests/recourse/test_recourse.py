"""The recourse audit: by hand, the slow way, admissible changes, burdens, Eq. 15, and bad input."""

from __future__ import annotations

import dataclasses
import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from audits.data import FeatureSpace
from audits.drawing.style import alt_text
from audits.models import Subject, make_subject, model_spec
from audits.recourse import GERMAN_ROLES, Limit
from audits.recourse.figures import groups
from audits.recourse.figures.people import cut_off
from audits.recourse.figures.person import person_path
from audits.recourse.text import judged_row, near_and_far
from audits.runs.registry import AUDITS
from audits.stats.text import percent
from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import Linear, mixed, recourse_of, subject_of
from tests.refused import refused

FOUR = pd.DataFrame({"x": [-2.0, -1.0, 1.0, 3.0], "z": [0.5, 0.5, 0.5, 1.5], "group": ["a", "b", "a", "b"]})


@pytest.fixture
def by_hand() -> Subject:
    """Rejected at x = -2 and -1, accepted at x = 1 and 3; the score's order pairs them so."""
    return subject_of(FOUR, Linear(x=1.0), ("x",))


def test_by_hand(by_hand):
    result = recourse_of(by_hand, steps=(0, 0.5, 0.75, 1), resolution=0.25)
    # -2 goes to 1: -0.5 half way, so it needs α = 0.75 (0.25); -1 goes to 3: 1 half way, exactly 0 at 0.25
    assert [row.reclassified.value for row in result.by_alpha] == [0, 0.5, 1, 1]
    assert result.people["alpha"].tolist() == [0.75, 0.25]
    sd = np.std([-2, -1, 1, 3])
    assert result.people["cost"].tolist() == pytest.approx([2.25 / sd, 1 / sd])
    changes = {row.alpha: row.mean_change.value for row in result.changes}
    assert changes == pytest.approx({0: 0, 0.5: 1.75, 0.75: 2.625, 1: 3.5})
    last = result.paths[result.paths["alpha"] == 1]
    assert last["value of x"].tolist() == pytest.approx([1, 3])
    assert result.people["fewest"].tolist() == [1, 1]
    assert [row.group for row in result.by_group] == ["a", "b"]
    assert result.verdict == "insufficient evidence"
    assert all(alt_text(exhibit.figure()) for exhibit in AUDITS["recourse"].section(result).exhibits)
    figure = person_path(result, result.people.index[0])
    assert [frame.name for frame in figure.frames] == [f"{step:g}" for step in result.steps]
    assert [frame.data[0].y[0] for frame in figure.frames] == result.paths.loc[
        result.people.index[0], "score"
    ].tolist()
    assert cut_off(result) == by_hand.threshold, "not the lowest score that is seen to be accepted"


def test_mass_that_splits_goes_to_the_mean():
    """One rejected person against two accepted ones: the barycenter (Eq. 15)."""
    frame = pd.DataFrame({"x": [-1.0, 1.0, 4.0], "group": ["a", "a", "b"]})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)), steps=(0.0, 0.5, 1.0))
    values = result.paths.set_index("alpha")["value of x"]
    assert values.tolist() == pytest.approx([-1, 0.75, 2.5])


def test_against_the_slow_way():
    """One person at a time: plan by hand, interpolate, decode, score."""
    subject = mixed(seed=2)  # where no whole number is half-way, which the last digits would round
    result = recourse_of(subject, steps=(0, 0.3, 1), fewest=False)
    scores, decided = subject.scores, subject.decisions
    space = FeatureSpace.fit(subject.data, result.columns)
    z = space.encode(subject.data.frame)
    order, theirs = (
        np.flatnonzero(each)[np.argsort(scores[each], kind="stable")] for each in (~decided, decided)
    )
    n, m = len(order), len(theirs)
    for rank, person in enumerate(order):
        upper, lower = (
            np.minimum((np.arange(m) + 1) / m, (rank + 1) / n),
            np.maximum(np.arange(m) / m, rank / n),
        )
        goal = n * np.clip(upper - lower, 0, 1) @ z[theirs]
        row = space.decode((0.7 * z[person] + 0.3 * goal)[None])
        frame = subject.data.frame.iloc[[person]].assign(**{name: row[name].to_numpy() for name in row})
        mine = result.paths.loc[subject.data.frame.index[person]]
        mine = mine[mine["alpha"] == 0.3].iloc[0]
        assert mine["score"] == pytest.approx(float(subject.favorable_score(frame)[0]), abs=1e-9)


def test_the_title_of_what_it_would_take_states_what_its_bars_show():
    """A match has more x, a z that harms, and a w that nobody can change: x alone helps, all of it not."""
    rng, accepted = np.random.default_rng(0), np.arange(60) % 2 == 1
    frame = pd.DataFrame(
        {"x": rng.uniform(-0.9, 0.9, 60), "z": 2.0 * accepted, "w": np.where(accepted, 1.0, -1.0)}
    )
    frame.loc[accepted, "x"] = 2.0 + rng.uniform(0, 0.5, 30)
    frame["group"] = rng.choice(["a", "b"], 60)
    result = recourse_of(subject_of(frame, Linear(x=1.0, z=-1.0, w=0.8), ("x", "z")))
    lost = next(trace for trace in groups.changes_needed(result).data if trace.name == "no part")
    rows = sorted(result.by_group, key=lambda row: (row.never.value or 0.0, row.n))  # as they are drawn
    share = np.average(list(lost.x), weights=[row.n for row in rows]) / 100
    assert groups.never_helped(result) == pytest.approx(share)
    assert groups.never_helped(result) < result.never.value, "some are helped by columns alone"
    for shown_share, linked in zip(lost.x, lost.meta, strict=True):  # a click picks those whom it counts
        group, *missing = json.loads(linked)
        people = result.people[result.people["group"].isin(group["in"])]
        picked = people[[term["column"] for term in missing if term["missing"]]].isna().all(axis=1)
        assert shown_share == pytest.approx(100 * picked.mean())
    heading = AUDITS["recourse"].section(result).exhibits[0].heading
    assert (percent(share, result.n_rejected) in heading) == (share > 0)


def test_the_group_that_has_further_to_go_is_found():
    rng = np.random.default_rng(3)
    group = rng.choice(["a", "b"], 500)
    frame = pd.DataFrame({"x": rng.normal(size=500) - 1.5 * (group == "b"), "group": group})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)), permutations=999)
    rows = {row.group: row for row in result.by_group}
    assert rows["b"].burden_difference.low > 0
    assert result.burden_p_value < 0.01
    assert result.verdict == rows["b"].burden_judged.verdict == "evidence of a difference"
    assert rows["b"].burden_judged.material


def test_of_groups_with_as_far_to_go_finding_and_figure_name_the_larger(by_hand):
    result = recourse_of(by_hand)
    row = next(each for each in result.by_group if each.burden.value is not None)
    sizes = {"b": (0.5, 1.0), "c": (0.5 + 1e-15, 4.0), "d": (2.0, 2.0), "e": (2.0 - 1e-15, 5.0)}
    rows = [
        dataclasses.replace(row, group=name, burden=dataclasses.replace(row.burden, value=value, n=n))
        for name, (value, n) in sizes.items()
    ]
    for order in (rows, rows[::-1]):
        assert [each.group for each in near_and_far(order)] == ["c", "e"]


def test_those_whom_no_step_helps_may_have_another_way():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"x": rng.normal(size=300), "z": rng.normal(size=300), "group": rng.choice(["a", "b"], 300)}
    )
    never_at_all = (frame["group"] == "b") & (frame.index % 2 == 0)
    frame.loc[never_at_all, "z"] = -40.0  # cannot be made up for by x
    frame.loc[(frame["group"] == "a") & (frame.index % 3 == 0), "z"] = -2.0
    subject = subject_of(frame, Linear(x=1.0, z=1.0), ("x",))
    result = recourse_of(subject, permutations=99)
    people, never = result.people, result.people["alpha"].isna()
    assert result.never.value == pytest.approx(never.mean())
    assert people.loc[~never, "by_any_accepted"].isna().all()
    # the slow way: the largest x of any accepted person
    accepted = frame[np.asarray(subject.decisions)]
    best = accepted["x"].max() + frame.loc[people.index, "z"] >= 0
    assert people.loc[never, "by_any_accepted"].tolist() == best[never].tolist()
    assert 0 < best[never].sum() < never.sum()
    assert result.never_but_reachable.value == pytest.approx(best[never].mean())


def test_no_group_is_named_where_all_have_as_far_to_go_or_one_is_a_single_person():
    frame = pd.DataFrame({"x": [-1.0, -1.0, 1.0, 1.0, -1.0, -1.0], "group": list("ababab")})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)), permutations=19)
    assert not result.by_group[0].burden_judged.material
    frame = pd.DataFrame({"x": [-2.0, -1.0, -3.0, 1.0, 3.0], "group": ["a", "a", "b", "a", "b"]})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)))
    assert any("“b”" in warning for warning in result.warnings)
    assert result.verdict == "insufficient evidence"
    frame = pd.DataFrame({"x": [-1.0, 1.0] * 400, "z": [-9.0, 9.0] * 400, "group": list("aabb") * 200})
    nobody = recourse_of(subject_of(frame, Linear(x=1.0, z=1.0), ("x",)), permutations=39)
    assert nobody.judged.badge == "no verdict"  # of nobody is it known how far to go
    n = np.arange(800)  # half of b are lost, the others need little: that a has further to go is not the news
    frame["x"] = np.where(frame["group"] == "a", -1 - n % 7 / 10, np.where(n % 3, -0.1, 1.0))
    frame["z"] = np.where(n % 8 > 5, -9.0, 0.0)
    lost = recourse_of(subject_of(frame, Linear(x=1.0, z=1.0), ("x",)), permutations=39)
    assert lost.judged == lost.by_group[1].accepted_judged
    gaps = dataclasses.replace(lost.judged, missing=(("no material difference", "gaps leave out more of a"),))
    assert judged_row(dataclasses.replace(lost, judged=gaps)) == lost.by_group[1]


STEPS = (0.0, 0.4, 1.0)


@pytest.fixture(scope="module")
def logistic() -> Subject:
    return mixed(n=200, seed=2)


def test_scores_in_between_are_those_of_the_equation(logistic):
    """A logistic model's log-odds of Eq. 15 are the mean of the person's and the counterpart's own."""
    result = recourse_of(logistic, steps=STEPS, interpolation="literal", resolution=0.2)
    assert any("Eq. 15" in warning for warning in result.warnings)
    n, scores, decided = len(result.people), logistic.scores, logistic.decisions
    start, goal = (logit(result.scores[alpha].to_numpy(dtype=float)) for alpha in ("0", "1"))
    for alpha in (0.2, 0.4, 0.8):
        between = logit(result.scores[f"{alpha:g}"].to_numpy(dtype=float))
        assert between == pytest.approx((1 - alpha) * start + alpha * goal, abs=1e-3)  # kept in float32
    # at α = 1 the log-odds are the accepted counterparts' mean log-odds, matched in the order of scores
    theirs = np.sort(logit(scores[decided]))
    m, order = len(theirs), np.argsort(start, kind="stable")
    for rank in (0, n // 2, n - 1):
        upper, lower = (
            np.minimum((np.arange(m) + 1) / m, (rank + 1) / n),
            np.maximum(np.arange(m) / m, rank / n),
        )
        share = np.clip(upper - lower, 0, 1)
        assert goal[order[rank]] == pytest.approx(float(n * share @ theirs), abs=1e-3)
    # at 0 nobody has moved, and the network's score is the model's
    assert result.scores["0"].to_numpy() == pytest.approx(scores[~decided], abs=1e-6)


def test_what_cannot_be_in_between_is_refused(logistic):
    frame = pd.DataFrame({"x": [-2.0, -1.0, 1.0, 3.0], "group": ["a", "b", "a", "b"]})
    other = subject_of(frame, Linear(x=1.0), ("x",))
    with refused("recourse.interpolation"):
        recourse_of(other, interpolation="literal")
    with refused("recourse.interpolation"):
        recourse_of(logistic, interpolation="literal", limits={"money": {"direction": "up"}})


BAD = [
    ({"actionable": ("nope",)}, ("recourse.actionable",)),
    ({"actionable": ("label",)}, ("recourse.actionable",)),
    ({"preset": "german_credit"}, ("recourse.preset",)),
    ({"limits": {"money": {"among": [1]}}}, ("recourse.limits.money.among",)),
    ({"limits": {"job": {"direction": "up"}}}, ("recourse.limits.job.direction",)),
    ({"limits": {"job": {"at_least": 1}}}, ("recourse.limits.job",)),
    ({"limits": {"job": {"among": ["king"]}}}, ("recourse.limits.job.among",)),
    ({"limits": {"age": {"at_least": 9, "at_most": 1}}}, ("recourse.limits.age",)),
    ({"limits": {"group": {"direction": "up"}}}, ("recourse.limits",)),
    ({"limits": {"age": {"up": True}}}, ("recourse.limits.age.up",)),
    ({"cost_weights": {"age": -1}}, ("recourse.cost_weights.age",)),
    ({"cost_weights": {"age": 0, "job": 0, "children": 0, "money": 0}}, ("recourse.cost_weights",)),
    ({"steps": (0, 2)}, ("recourse.steps[1]",)),
    ({"steps": ()}, ("recourse.steps",)),
    ({"by": ("age",)}, ("recourse.by",)),
]


@pytest.mark.parametrize(("options", "refusal"), BAD)
def test_bad_input_in_one_sentence(options, refusal):
    with refused(*refusal):
        recourse_of(mixed(), **options)


def test_nothing_to_do():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "group": ["a", "b", "a"]})
    with refused("recourse"):
        recourse_of(subject_of(frame, Linear(x=1.0), ("x",)))
    with refused("recourse"):
        recourse_of(subject_of(frame.assign(x=-frame["x"]), Linear(x=1.0), ("x",)))
    with refused("roles.actionable"):
        recourse_of(subject_of(frame, Linear(x=1.0), ()))
    with refused("model"):
        recourse_of(scored(crowd(30), roles={"actionable": ("x",), "mutable": (), "immutable": ()}))


def test_rows_on_the_way_are_admissible():
    subject = mixed()
    limits = {
        "age": {"direction": "up"},
        "job": {"among": ["clerk", "judge"]},
        "children": Limit(direction="down", at_least=1),
    }
    result = recourse_of(subject, steps=tuple(np.linspace(0, 1, 11)), limits=limits)
    frame = subject.data.frame
    paths = result.paths
    assert paths["value of children"].dtype == frame["children"].dtype  # whole numbers
    today = frame.loc[paths.index]
    assert (paths["value of age"].to_numpy() >= today["age"].to_numpy()).all()
    children, had = paths["value of children"].to_numpy(), today["children"].to_numpy()
    assert (children <= had).all()
    assert ((children >= 1) | (children == had)).all()
    moved = paths["value of job"].to_numpy() != today["job"].to_numpy()
    assert set(paths["value of job"][moved]) <= {"clerk", "judge"}
    assert paths["value of money"].between(frame["money"].min(), frame["money"].max()).all()
    first = paths[paths["alpha"] == 0]
    for name in result.columns:
        assert first[f"value of {name}"].tolist() == frame.loc[first.index, name].tolist()
    assert (first["cost"] == 0).all()
    assert not first["decision"].any()


def test_fewest_changes_against_all_subsets():
    subject = mixed(seed=2)
    result = recourse_of(subject)
    frame = subject.data.frame.loc[result.people.index]
    last = result.paths[result.paths["alpha"] == 1]
    moved = last[[f"value of {name}" for name in result.columns]].set_axis(list(result.columns), axis=1)
    fewest = pd.Series(np.nan, frame.index)
    for size in range(4, 0, -1):
        for names in combinations(result.columns, size):
            accepted = subject.favorable_score(frame.assign(**{name: moved[name] for name in names})) >= 0.5
            fewest[accepted] = size
    assert result.people["fewest_proved"].all()
    assert result.people["fewest"].astype(float).equals(fewest.rename("fewest"))


def test_a_role_the_model_does_not_read_warns():
    result = recourse_of(subject_of(FOUR, Linear(x=1.0), ("x", "z")))
    assert result.columns == ("x",)
    assert "'z'" in result.warnings[0]
    with refused("roles.actionable"):
        recourse_of(subject_of(FOUR, Linear(x=1.0), ("z",)))


def test_the_preset_for_german_credit(shared_data):
    from audits.data.loader import load_data
    from audits.data.public import public_section
    from audits.data.spec_parser import data_spec

    data = load_data(data_spec(public_section("german", shared_data)))
    assert set(GERMAN_ROLES) <= {*data.frame.columns}
    subject = make_subject(data, model_spec({"train": "logistic"}), test_size=0.5)
    result = recourse_of(subject, preset="german_credit", by=("sex",), resolution=0.25, fewest=False)
    assert set(result.columns) == {name for name, role in GERMAN_ROLES.items() if role == "actionable"}
    shares = [row.reclassified.value for row in result.by_alpha]
    assert shares[0] == 0
    assert shares[-1] > 0.3  # Figure 4: moving all the way helps many
    means = [row.mean_score.value for row in result.by_alpha]
    assert means[-1] > means[0]


class _Jobs:
    """A real model that likes one job."""

    name, classes, invents, sha256, columns = "jobs", None, True, "0" * 64, ("x", "job")

    def __init__(self, best: str):
        self.best = best

    def score(self, rows: pd.DataFrame) -> np.ndarray:
        total = rows["x"].to_numpy(dtype=float) + 1.5 * (rows["job"].astype(str) == self.best).to_numpy()
        return np.asarray(1 / (1 + np.exp(-total)))


def test_names_of_categories_change_no_result():
    """Of categories that are equally near, today's stays, not the first in the alphabet."""
    rng = np.random.default_rng(0)
    job = rng.integers(0, 3, 80)
    base = pd.DataFrame({"x": rng.normal(size=80).round(1), "group": rng.choice(["a", "b"], 80)})
    found = []
    for names in (("none", "clerk", "judge"), ("judge", "clerk", "none")):
        subject = subject_of(base.assign(job=np.array(names)[job]), _Jobs(names[-1]), ("x", "job"))
        found.append(recourse_of(subject, resolution=0.25, fewest=False))
    pd.testing.assert_series_equal(found[0].people["alpha"], found[1].people["alpha"])
    assert np.allclose(found[0].scores.to_numpy(), found[1].scores.to_numpy())


def test_fewest_changes_grown_greedily_are_not_said_to_be_proved(monkeypatch):
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0], "c": [0.0, 1.0], "group": ["a", "b"]})
    subject = subject_of(frame, Linear(a=1.0, b=2.0, c=3.0), ("a", "b", "c"))
    monkeypatch.setattr("audits.recourse.paths._MAX_ROWS", 1)
    threshold = 1 / (1 + np.exp(-6.0 + 1e-9))
    result = recourse_of(dataclasses.replace(subject, threshold=threshold), resolution=0.5, permutations=19)
    assert set(result.people["fewest_columns"].iloc[0].split(", ")) == {"a", "b", "c"}
    assert result.people["fewest_proved"].tolist() == [False]


def test_cost_weights_scale_the_burden(by_hand):
    one = recourse_of(by_hand).people["cost"]
    other = recourse_of(by_hand, cost_weights={"x": 3.0}).people["cost"]
    assert other.to_numpy() == pytest.approx(3 * one.to_numpy())
