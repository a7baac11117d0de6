"""Everything is Relative: Figures 2, 3 and 5, and the biases and the constraint of sections 4.2 and 4.3.

Policies are logistic regressions on the columns that the appendix lists, one-hot and z-scored, with the
default penalty of scikit-learn: the paper states none. Printed are the shares of the even coupling, and from
least to most over all optimal couplings. A subgroup is race and a policy's own label, or sex and age.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import null_space
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from audits.checks import generator
from audits.outcome_transport.bias.groups import CellMasses, group_list, measure, measure_flows, tie_ranges
from audits.outcome_transport.comparison.sides import Side, TwoSides
from audits.outcome_transport.matching.optimal_face import optimal_face
from audits.outcome_transport.matching.outcomes import match_outcomes
from audits.recourse.actions import GERMAN_ROLES
from benchmarks.measuring import SHARED, screened
from benchmarks.samples import admissions

BLACK_HIGH, BLACK_LOW = "African-American, high risk", "African-American, low risk"
WHITE_HIGH, WHITE_LOW = "Caucasian, high risk", "Caucasian, low risk"


def compas(*, ethnicity: bool = False) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Columns (n, d) of the appendix, "COMPAS dataset", race, and by name who did and was said to recidivate.

    Of 6,172 people, who were screened within 30 days; a decile above 4 says so.
    """
    raw = screened()
    columns = [raw["priors_count"], raw["age"] > 45, raw["age"] < 25, raw["sex"] == "Female"]
    columns += [raw["c_charge_degree"] == "M"]
    columns += [raw["race"] == race for race in sorted(set(raw["race"])) if ethnicity]
    labels = {"truth": raw["two_year_recid"] == 1, "prediction": raw["decile_score"] > 4}
    labels = {name: each.to_numpy() for name, each in labels.items()}
    return scale(np.column_stack(columns)), raw["race"].to_numpy(dtype=str), labels


def probabilities(x: np.ndarray, y: np.ndarray, penalty: float = 1.0) -> np.ndarray:
    """Chance of `y` by the policy, (n,); people with the same columns have the same number."""
    fitted = LogisticRegression(C=penalty, max_iter=5000).fit(x, y)
    return fitted.predict_proba(x)[:, 1].round(12)


def figure_2(years: str = "30", n: str = "200") -> None:
    """Blue College: disparate impact (Eq. 14) sees nothing; the distance of the chances (Eq. 8 and 10) does.

    Impact is School B's rate of admission over School A's.
    """
    seed = generator(None).integers(2**63)  # each rule starts from it again
    for rule in (0.1, 0.25, 0.5):
        people = admissions.generate(int(n), years=int(years), rule=rule, rng=np.random.default_rng(seed))
        found = []
        for some in (*(rows for _, rows in people.groupby("year")), people):
            schools = [some[some["school"] == school] for school in ("B", "A")]
            rates = [rows["admitted"].mean() for rows in schools]
            sides = (np.sqrt(2.0) * rows["chance"].to_numpy()[:, None] for rows in schools)
            found.append((rates[0] / rates[1] if rates[1] else np.nan, match_outcomes(*sides).cost))
        (*impact, every), (*distance, whole) = zip(*found, strict=True)
        print(
            f"rule {rule:g}: impact {np.nanmean(impact):.3f} a year on average, {every:.3f} of all; distance "
            f"{min(distance):.4f} to {max(distance):.4f} a year, {whole:.4f} of all, by theory "
            f"{admissions.wasserstein(rule):.4f}"
        )


def _side(name: str, rows: np.ndarray, p: np.ndarray, group: np.ndarray, label: Any = None) -> Side:
    own = group if label is None else group + np.where(label, ", high risk", ", low risk")
    (groups, code), (subgroups, subcode) = (np.unique(each, return_inverse=True) for each in (group, own))
    outcomes = p[:, None] * np.sqrt(2)
    return Side(name, rows, np.ones(len(p)), outcomes, code, tuple(groups), subcode, tuple(subgroups))


def _compared(source: Side, target: Side) -> TwoSides:
    return TwoSides(source, target, True, "probability", float(np.sqrt(2)), {}, ())


def compas_policies(*, ethnicity: bool = False) -> tuple[TwoSides, np.ndarray]:
    """Figure 3A: what happened against what was predicted, for the same people; and their columns."""
    x, race, labels = compas(ethnicity=ethnicity)
    sides = (_side(name, np.arange(len(x)), probabilities(x, y), race, y) for name, y in labels.items())
    return _compared(*sides), x


def _cell(cells: CellMasses, comparison: TwoSides, row: str, column: str, *, of_target: bool = False) -> str:
    """Word the share of the people of `row` mapped to `column` (or the other way round), with its range."""
    at = comparison.source.subgroups.index(row), comparison.target.subgroups.index(column)
    whole = cells.mass.sum(axis=0)[at[1]] if of_target else cells.mass.sum(axis=1)[at[0]]
    even, low, high = (100 * each[at] / whole for each in (cells.mass, cells.low, cells.high))
    return f"{even:.1f}% ({low:.1f} to {high:.1f})"


def figure_3a() -> None:
    """COMPAS: flows (Figure 3A) and group biases (section 4.2)."""
    for ethnicity, ground in product((False, True), ("euclidean", "squared_euclidean")):
        comparison, x = compas_policies(ethnicity=ethnicity)
        matched = match_outcomes(comparison.source.outcomes, comparison.target.outcomes, ground=ground)
        cells, face = measure_flows(comparison, matched), optimal_face(matched)
        print(f"ethnicity {ethnicity}, {ground}: {len(matched.x)} outcomes, cost {matched.cost:.8f}")
        for row, column in ((WHITE_LOW, BLACK_HIGH), (BLACK_HIGH, WHITE_LOW)):
            back = _cell(cells, comparison, row, column, of_target=True)
            print(f"  {row} to {column} {_cell(cells, comparison, row, column)}; of those mapped to {back}")
        groups = group_list(comparison.source)
        measured = measure(comparison, matched, x, x, distance="l2", face=face)
        ranges = tie_ranges(matched, measured, groups, distance="l2", face=face)
        for one, other in ((BLACK_HIGH, BLACK_LOW), (WHITE_LOW, WHITE_HIGH)):
            at = [groups.names.index(name) for name in (one, other)]
            means = [measured.value[groups.members[k]].mean() for k in at]
            ends = ", ".join("{:.2f} to {:.2f}".format(*ranges[k]) for k in at)
            told = f"bias of {one} {means[0]:.3f}, {other} {means[1]:.3f} (ranges {ends})"
            print(f"  {told}: {means[0] / means[1] - 1:+.2%}")


def fair_weights(x: np.ndarray, race: np.ndarray, label: np.ndarray, favored: bool) -> Any:
    """Return the chance of a high-risk prediction by columns: a regression under Zafar's constraint.

    Among Black and white people whose label is `favored`, being Black has no covariance with the distance
    from the boundary.
    """
    some = (label == favored) & np.isin(race, ["African-American", "Caucasian"])
    black = (race[some] == "African-American").astype(float)
    kept = null_space(((black - black.mean()) @ x[some])[None])
    fitted = LogisticRegression(max_iter=5000).fit(x @ kept, label)
    return lambda columns: fitted.predict_proba(columns @ kept)[:, 1].round(12)


def figure_3b(splits: str = "30") -> None:
    """COMPAS under equal opportunity: flows (Figure 3B), and true positive rates of 30% held out."""
    x, race, labels = compas()
    rows, said = np.arange(len(x)), labels["prediction"]
    truth = _side("truth", rows, probabilities(x, labels["truth"]), race, labels["truth"].astype(int))
    policies = {"without constraint": probabilities(x, said)} | {
        f"equal rates of {'high' if one else 'low'} risk": fair_weights(x, race, said, one)(x)
        for one in (False, True)
    }
    for name, p in policies.items():
        comparison = _compared(truth, _side(name, rows, p, race, (p >= 0.5).astype(int)))
        cells = measure_flows(comparison, match_outcomes(truth.outcomes, comparison.target.outcomes))
        two = (WHITE_LOW, BLACK_HIGH)
        shown = [two, two[::-1], (BLACK_HIGH, BLACK_HIGH), (WHITE_LOW, WHITE_LOW)]
        print(f"{name}: " + "; ".join(f"{a} to {b} {_cell(cells, comparison, a, b)}" for a, b in shown))
        print(f"  in their own subgroup {100 * np.trace(cells.mass):.1f}%")
    found = []
    for seed, favored in product(range(int(splits)), (False, True)):
        held, train = np.split(np.random.default_rng(seed).permutation(len(rows)), [len(rows) * 3 // 10])
        plain = LogisticRegression(max_iter=5000).fit(x[train], said[train]).predict(x[held])
        fair = fair_weights(x[train], race[train], said[train], favored)(x[held]) >= 0.5
        for name, of in product(labels, ("African-American", "Caucasian")):
            positive = (race[held] == of) & (labels[name][held] == favored)
            points = 100 * ((fair == favored)[positive].mean() - (plain == favored)[positive].mean())
            found.append({"high risk": favored, "by": name, "race": of, "points": points})
    print("change of true positive rates under the constraint")
    changes = pd.DataFrame(found).groupby(["high risk", "by", "race"])["points"]
    print(changes.agg(mean="mean", sd=lambda each: each.std(ddof=0)).round(1))


def german() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The loans, who has good credit, and each person's sex and age as in Figure 3C."""
    frame = pd.read_csv(SHARED / "german.csv")
    frame["sex"] = np.where(frame["personal_status"] == "A92", "women", "men")
    group = frame["sex"] + np.where(frame["age"] < 25, " under 25", " from 25")
    return frame.drop(columns="personal_status"), (frame["credit"] == 1).to_numpy(), group.to_numpy(dtype=str)


def german_sides(*, by_label: bool, penalty: float = 1.0) -> TwoSides:
    """Figure 3C: people of bad credit against those of good credit, by label or by the policy's decision."""
    frame, good, group = german()
    columns = [name for name in frame if name not in {"credit", "age", "sex"}]
    p = probabilities(scale(pd.get_dummies(frame[columns], dtype=float)), good, penalty)
    bad = ~good if by_label else p < 0.5
    sides = (("bad", bad), ("good", ~bad))
    return _compared(*(_side(name, np.flatnonzero(on), p[on], group[on], None) for name, on in sides))


def figure_3c() -> None:
    """German credit: who is mapped to older men of good credit (Figure 3C)."""
    for penalty, by_label in product((0.01, 0.1, 1.0, 10.0, 1e6), (True, False)):
        comparison = german_sides(by_label=by_label, penalty=penalty)
        source, target = comparison.source.outcomes, comparison.target.outcomes
        names = comparison.source.subgroups
        for ground in ("euclidean", "squared_euclidean"):
            cells = measure_flows(comparison, match_outcomes(source, target, ground=ground))
            shares = "; ".join(f"{name} {_cell(cells, comparison, name, names[0])}" for name in names)
            split = "label" if by_label else "decision"
            print(f"C {penalty:g}, by {split}, {ground}, {len(source)} to {len(target)}: {shares}")


def figure_5() -> None:
    """German credit: mean bias of people of bad credit by role of the columns, sex and age."""
    import ot

    frame = german()[0]
    for by_label in (True, False):
        comparison = german_sides(by_label=by_label)
        bad, good = comparison.source, comparison.target
        costs = np.abs(bad.outcomes - good.outcomes[:, 0])
        line = ot.emd_1d(bad.outcomes[:, 0], good.outcomes[:, 0], metric="euclidean")
        for (solver, plan), role in product(
            (("emd_1d", line), ("emd", ot.emd([], [], costs))), sorted(set(GERMAN_ROLES.values()))
        ):
            own = [name for name, one in GERMAN_ROLES.items() if one == role and name in frame]
            z = scale(pd.get_dummies(frame[own], dtype=float))
            bias = (plan * cdist(z[bad.positions], z[good.positions])).sum(axis=1) * len(costs)
            means = (f"{name} {bias[bad.group == k].mean():.2f}" for k, name in enumerate(bad.groups))
            print(f"by {'label' if by_label else 'decision'}, {role} ({solver}): " + ", ".join(means))


RUNS = {
    "relative-2": figure_2,
    "relative-3a": figure_3a,
    "relative-3b": figure_3b,
    "relative-3c": figure_3c,
    "relative-5": figure_5,
}
