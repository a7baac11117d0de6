"""All groups at once: against closed forms, against flipset for two groups, as properties, and bad input."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from audits.barycenter import BarycenterOptions, barycenter
from audits.barycenter.barycenters import least_spread, meet
from audits.barycenter.people import compare
from audits.barycenter.sections import section
from audits.barycenter.text import headline
from audits.data import DataSpec, build_data
from audits.data.digests import plain_digest
from audits.drawing.style import alt_text
from audits.flipset import FlipsetOptions, flipset
from audits.flipset.counterparts.matching import Group
from audits.models import make_subject, model_spec
from audits.progress import silent
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from tests.refused import refused


def subject_of(frame: pd.DataFrame, **data):
    features = tuple(name for name in frame.columns if name not in {"group", "sex", "decision"})
    spec = DataSpec(
        **{"label": "decision", "favorable": 1, "protected": ("group",), "features": features, **data}
    )
    return make_subject(build_data(frame, spec), model_spec({"predictions": {"label": "decision"}}))


def audited(frame: pd.DataFrame, *, rng: int = 0, data: dict | None = None, **options):
    asked = BarycenterOptions(**{"permutations": 0, "fewest": 2, **options})
    return barycenter(subject_of(frame, **(data or {})), asked, rng=rng)


def crowd(n: int, seed: int, *, shift: float = 0.0, lower: float = 0.0, groups: str = "abc") -> pd.DataFrame:
    """Groups with two features; the last group's features lie lower by `shift`, its decisions by `lower`."""
    rng = np.random.default_rng([seed, n])
    group = np.sort(rng.integers(0, len(groups), n))
    last = group == len(groups) - 1
    x = rng.normal(size=(n, 2)) - shift * last[:, None]
    decided = rng.random(n) < np.where(last, 1 - lower, 1.0) / (1 + np.exp(-1.5 * x[:, 0]))
    frame = pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "group": np.array(list(groups))[group]})
    return frame.assign(decision=decided.astype(int))


def side_of(points: np.ndarray) -> Group:
    return Group.build(np.arange(len(points)), points, np.ones(len(points)))


@settings(max_examples=3)
@given(st.integers(0, 10_000), st.integers(8, 40), st.integers(8, 40), st.booleans())
def test_two_groups_are_a_flipset(seed, n, m, alike):
    """Continuous features have one optimal matching; flips are those of the other audit, person by person."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=n + m), "group": np.repeat(["a", "b"], [n, m])})
    frame["z"] = rng.normal(size=n + m) + (frame["group"] == "b")
    frame["decision"] = rng.integers(0, 2, n + m)
    frame.loc[:1, "decision"] = [0, 1]  # a label has two values
    if alike:  # people with the same features, who share counterparts
        frame.loc[: n // 2, ["x", "z"]] = frame.loc[n // 2, ["x", "z"]].to_numpy()
    sides = {"source": {"group": "a"}, "target": {"group": "b"}}
    for cost, same in ((None, "l1_squared"), ("l2", "l2")):  # the first is both audits' own
        found = audited(frame, cost=cost)
        assert found.cost == same
        options = FlipsetOptions(**sides, cost=same, permutations=0, bootstrap=100)
        other = flipset(subject_of(frame), options, rng=0)
        for name, people in (("a", other.people), ("b", other.counterparts)):
            mine = found.people[found.people["group"] == name]
            np.testing.assert_allclose(mine["only_self"], people.loc[mine.index, "positive"], atol=1e-9)
            np.testing.assert_allclose(
                mine["only_counterpart"], people.loc[mine.index, "negative"], atol=1e-9
            )
        assert found.group("a").only_self * n == pytest.approx(other.positive.size)


@settings(max_examples=8)
@given(
    st.lists(
        st.lists(st.floats(-50, 50).map(lambda x: round(x, 2)), min_size=1, max_size=12),
        min_size=2,
        max_size=4,
    )
)
def test_on_a_line_quantiles_are_averaged(groups):
    """In one dimension the barycenter's quantile function is the mean of the groups' (closed form)."""
    shares = np.arange(1, len(groups) + 1) / sum(range(1, len(groups) + 1))
    sides = [side_of(np.array(g)[:, None]) for g in groups]
    met = meet(sides, shares, rounds=3)
    order = np.argsort(met.points[:, 0], kind="stable")
    ends = np.cumsum(met.mass[order])
    at = np.linspace(0.0031, 0.9971, 57)
    at = at[[all(abs(t * len(g) - round(t * len(g))) > 1e-6 for g in groups) for t in at]]
    quantiles = [np.sort(np.array(g))[np.minimum((at * len(g)).astype(int), len(g) - 1)] for g in groups]
    got = met.points[order, 0][np.minimum(np.searchsorted(ends, at), len(order) - 1)]
    np.testing.assert_allclose(got, shares @ quantiles, atol=1e-9)
    assert met.spread == pytest.approx(least_spread(sides, shares), abs=1e-9)  # nothing is nearer


@pytest.mark.parametrize(("k", "weights"), [(2, "people"), (5, "equal")])
def test_net_flips_are_the_difference_of_rates(k, weights):
    """Proposition 2 for any number of groups, and every group is favored alike where all meet."""
    rng = np.random.default_rng(k)
    sizes = rng.integers(2, 25, k)
    frame = pd.DataFrame(rng.integers(0, 6, (sizes.sum(), 3)), columns=["x", "y", "z"])  # many alike
    frame["group"] = np.repeat([f"g{j}" for j in range(k)], sizes)
    frame["decision"] = rng.integers(0, 2, len(frame))
    frame.loc[:1, "decision"] = [0, 1]
    found = audited(frame, weights=weights)
    rates = {each.group: each.rate.value for each in found.groups}
    for each in found.groups:
        assert each.net.value == pytest.approx(each.only_self - each.only_counterpart, abs=1e-9)
        rest = sum(o.share * rates[o.group] for o in found.groups if o is not each) / (1 - each.share)
        assert each.net.value == pytest.approx(each.rate.value - rest, abs=1e-9)
        assert each.net.low <= each.net.value <= each.net.high
    assert found.nearness.spread >= found.nearness.least - 1e-9
    assert found.people["people"].sum() == len(frame) == found.n
    assert set(found.people.index) == set(frame.index)


def test_a_level_that_differs_is_never_cleared_and_a_sample_neither():
    """Equal rates, half of one group 40 points up and half down: the average holds, the levels do not."""
    rng, n = np.random.default_rng(3), 1_600
    frame = pd.DataFrame({"x": rng.normal(size=n), "z": np.tile(["p", "q"], n // 2)})
    frame["group"] = np.repeat(["a", "b"], n // 2)
    up = np.where(frame["group"] == "a", np.where(frame["z"] == "p", 0.2, -0.2), 0.0)
    frame["decision"] = (rng.random(n) < 0.5 + up).astype(int)
    found = audited(frame, permutations=19, seconds=0.5)
    assert all(each.judged.verdict != NO_MATERIAL for each in found.groups)
    worst = {each.name: each.difference for each in found.group("a").levels}["z = p"]
    assert worst.low > 0.1
    part = audited(frame.assign(decision=1 - frame.index % 2), permutations=19, seconds=0.5, max_people=600)
    assert part.verdict != NO_MATERIAL


@pytest.fixture(scope="module")
def lower():
    return audited(crowd(240, 7, lower=0.7), permutations=39, seconds=0.5)


def test_samples_are_drawn_where_time_is_short(lower):
    """Flips above chance are then those of samples, and are said to be."""
    assert "0.5 seconds" in lower.chance
    assert lower.verdict == EVIDENCE
    assert all(alt_text(exhibit.figure()) for exhibit in section(lower).exhibits)
    assert lower.rests_on == "c"


def test_every_person_has_a_counterpart_in_every_other_group(lower):
    data = crowd(240, 7, lower=0.7)
    names, decided = data["group"].to_numpy(), data["decision"].to_numpy()
    for row, near in list(lower.counterparts.groupby(level=0))[::20]:
        assert set(near["of"]) == {"a", "b", "c"} - {names[row]}
        assert names[near["counterpart"]].tolist() == near["of"].tolist()
        assert (near["counterpart_decision"] == decided[near["counterpart"]]).all()
    assert ((lower.counterparts["share"] > 0) & (lower.counterparts["share"] <= 1)).all()
    nearest = lower.counterparts.groupby(level=0)["distance"].min()
    np.testing.assert_allclose(lower.people["distance"], nearest.loc[lower.people.index])
    for each in lower.groups:  # against everybody, too, the net flips are the difference of rates
        told = each.everybody
        assert told.only_self - told.only_counterpart == pytest.approx(told.net.value)
        assert told.net.value == pytest.approx(decided[names == each.group].mean() - decided.mean())


def test_who_flips_is_told_by_value(lower):
    """Marginals of a group add up to everyone, and name the feature that decisions go with."""
    each = lower.group("c")
    for way in ("only_self", "only_counterpart"):
        rows = lower.marginals_frame("c", way)
        for _, part in rows.groupby("feature"):
            assert part["people"].sum() == pytest.approx(each.people)
            assert part["who flip"].sum() == pytest.approx(each.people * getattr(each, way))
    assert lower.marginals_frame("c", each.way)["feature"].iloc[0] == "x"


def test_groups_that_only_hang_together_differently_are_no_evidence():
    """Decisions follow x alone, which all groups have alike; x and z go together in one, apart in another."""
    rng = np.random.default_rng(8)
    x, noise = rng.normal(size=(2, 240))
    group = np.repeat(["a", "b", "c"], 80)
    sign = np.select([group == "a", group == "b"], [1.0, -1.0], 0.0)
    frame = pd.DataFrame({"x": x, "z": 3 * (sign * x + 0.3 * noise), "group": group})
    frame["decision"] = (x > 0).astype(int)
    for name in "abc":  # rates exactly alike
        here = frame.index[frame["group"] == name]
        frame.loc[here, "decision"] = (frame.loc[here, "x"].rank() > 40).astype(int)
    found = audited(frame, permutations=39, rounds=0, seconds=60.0)
    assert max(each.excess.low for each in found.groups) > 0
    assert found.verdict == INSUFFICIENT


def test_small_groups_are_left_out_and_named():
    frame = pd.concat([crowd(60, 3), crowd(1, 9).assign(group="lonely")], ignore_index=True)
    found = audited(frame, fewest=5)
    assert [each.group for each in found.groups if each.group == "lonely"] == []
    assert found.rows["left_out"] == {"in a group of fewer than 5 people": 1}
    assert "lonely" in found.warnings[0]
    with refused("barycenter.fewest"):
        audited(frame, fewest=500)


def test_constant_features_and_missing_values():
    frame = crowd(60, 3)
    frame["z"] = 1.0
    assert audited(frame).nearness.points
    alone = audited(frame.assign(x=2.0))  # everyone is alike: counterparts are everyone
    assert alone.nearness.spread == pytest.approx(0)
    rates = {each.group: each.rate.value for each in alone.groups}
    for each in alone.groups:
        rest = each.rate.value - each.net.value
        assert each.only_self == pytest.approx(rates[each.group] * (1 - rest))
    frame.loc[::7, "x"] = np.nan
    frame.loc[::5, "group"] = None
    found = audited(frame, data={"missing": "category"})
    assert {each.group for each in found.groups} == {"a", "b", "c", "group (missing)"}
    with refused("barycenter"):
        audited(crowd(60, 3), data={"features": ("group",)})
    with refused("barycenter.cost", "'l2_squared'"):  # three groups at another cost
        audited(crowd(60, 0), cost="l1_squared")


def test_many_people_are_sampled_by_group_and_decision():
    """Of 100,000 people as many are drawn as take half a minute, decisions in proportion, and it is said."""
    frame = crowd(100_000, 1)
    subject = subject_of(frame)
    chosen = compare(subject, BarycenterOptions(), np.random.default_rng(0), silent)
    assert 3_000 < len(chosen.rows) < 30_000
    assert "100,000" in chosen.warnings[0]
    assert chosen.left_out["not drawn into the sample"] == 100_000 - len(chosen.rows)
    for k, name in enumerate(chosen.names):
        everybody = frame["decision"][frame["group"] == name].mean()
        assert chosen.decisions[chosen.group == k].mean() == pytest.approx(everybody, abs=1e-3)
    asked = compare(subject, BarycenterOptions(max_people=600), np.random.default_rng(0), silent)
    assert len(asked.rows) == 600
    assert asked.n.sum() + asked.left_out["not drawn into the sample"] == 100_000


@pytest.fixture(scope="module")
def pair() -> tuple[pd.DataFrame, object]:
    """60 people a group, whose one best matching an assignment finds; one number is missing."""
    frame = crowd(120, 8, shift=0.7, lower=0.4, groups="ab")
    frame["group"] = np.repeat(["a", "b"], 60)
    frame["job"] = np.random.default_rng(2).choice(["cook", "clerk", "judge"], 120)
    frame.loc[7, "z"] = np.nan
    return frame, audited(frame, cost="l2_squared")


def _assigned(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    cost = ((points[:, None, :] - others[None, :, :]) ** 2).sum(2)
    return linear_sum_assignment(cost)[1]


def test_the_transparency_report_by_hand(pair):
    """Person minus counterpart over the pairs that flip, with SciPy's matching instead of ours."""
    frame, found = pair
    points = subject_of(frame).space.encode(frame)
    h = frame["decision"].to_numpy(bool)
    one, two = np.arange(60), 60 + _assigned(points[:60], points[60:])
    flips = ~h[one] & h[two]
    one, two = one[flips], two[flips]
    assert len(one) == pytest.approx(60 * found.group("a").only_counterpart)
    told = {row.feature: row for row in found.report("a", "only_counterpart")}
    assert set(told) == {"x", "z", "z is missing", "job=clerk", "job=cook", "job=judge"}
    for name, values in (("x", frame["x"]), ("z", frame["z"]), ("job=cook", frame["job"] == "cook")):
        gap = values.to_numpy(float)[one] - values.to_numpy(float)[two]
        gap = gap[~np.isnan(gap)]
        assert told[name].mean_difference.value == pytest.approx(gap.mean())
        assert told[name].mean_sign.value == pytest.approx(np.sign(gap).mean())
    own = told["x"].mean_difference.value
    assert told["x"].standardized_difference == pytest.approx(own / frame["x"].std(ddof=0))
    back = {row.feature: row for row in found.report("b", "only_self")}
    assert back["x"].mean_difference.value == pytest.approx(-own)
    far = [abs(row.standardized_difference) for row in told.values()]
    sure = [abs(row.mean_sign.value) for row in found.report("a", "only_counterpart", by_sign=True)]
    assert (far, sure) == (sorted(far, reverse=True), sorted(sure, reverse=True))


def test_the_former_name_is_read_and_draws_the_same_numbers() -> None:
    document = {"data": {"path": "people.csv"}, "model": {"train": "logistic"}}
    old, new = (
        parse_spec({**document, "audits": [name]}, Path()).audits[0] for name in ("barycentre", "barycenter")
    )
    assert old == new
    assert old.name == "barycenter"
    options = old.all_options()
    del options["material_on"]  # came later and changes no draw
    stream = int(plain_digest("barycentre", options), 16)
    assert old.random(3).random() == np.random.default_rng([3, stream]).random()


def test_people_whose_group_is_missing_are_a_group():
    """A difference of others that may be immaterial does not stand before theirs."""
    frame = crowd(500, 3, groups="ab")
    frame.loc[::20, ["group", "decision"]] = [None, 0]
    frame["decision"] = frame["decision"].where((frame["group"] != "a") | (frame.index % 9 > 0), 0)
    found = audited(frame, permutations=19, rounds=0)
    told = {each.group: (each.judged.verdict, each.judged.material) for each in found.groups}
    assert told["group (missing)"] == (EVIDENCE, True)
    assert (found.verdict, found.rests_on) == (EVIDENCE, "group (missing)")


@pytest.mark.parametrize("others", [("b", "b"), ("b", "c")])
def test_one_of_five_people_is_no_evidence_where_groups_weigh_alike(others):
    """Of equal rates of 2% that happens to one sample in ten: the interval alone leaves out 0."""
    x = np.random.default_rng(0).normal(size=(1005, 2))
    group = np.array(["a"] * 5 + [others[0]] * 500 + [others[1]] * 500)
    decided = np.isin(np.arange(1005), [0, *range(5, 15), *range(505, 515)]).astype(int)
    frame = pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "group": group, "decision": decided})
    told = audited(frame, weights="equal", permutations=19, seconds=0.2)
    assert told.verdict != EVIDENCE
    assert told.group("a").net.low == 0


def test_flips_that_may_be_chance_are_not_called_more_than_chance(lower):
    """Evidence by rates alone says no more than that more people flip one way than the other."""
    worst = lower.group(lower.rests_on)
    judged = dataclasses.replace(worst.judged, interval=worst.net)
    told = []
    for low in (0.01, -0.01):
        excess = dataclasses.replace(worst.excess, low=low)
        flips = dataclasses.replace(worst, judged=judged, excess=excess)
        groups = tuple(flips if each is worst else each for each in lower.groups)
        told.append(headline(dataclasses.replace(lower, groups=groups)))
    assert told[0] != told[1]
