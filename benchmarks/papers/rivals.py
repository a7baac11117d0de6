"""Two other ways to look for subgroups, on the same decisions (Table 8 of the paper).

* Largest gap between any two subgroups, in the spirit of Themis (Galhotra, Brun, Meliou 2017): for every
  combination of attributes, the subgroup with the largest favorable share against the one with the smallest.
  Themis draws inputs uniformly; here shares are those of the people, in subgroups of at least 30.
* A linear threshold of all protected attributes, in the spirit of GerryFair's auditor (Kearns, Neel, Roth, Wu
  2018): least squares of the decision on the attributes (their heuristic oracle), cut where the two sides
  differ most. It is fitted on one half of the people and stated on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from audits.models import Subject
from audits.rule_sets.inference.permutation import PeopleCounts, split_halves, whole_people
from audits.rule_sets.options import RuleSetsOptions
from audits.stats import Estimate, newcombe
from audits.stats.intervals import percent_level
from audits.stats.text import number, several
from audits.subgroups.attributes import Attribute
from audits.subgroups.binning import read_attributes
from audits.subgroups.cells import Cells, count_cells
from audits.subgroups.scores import differences

MIN_PEOPLE = 30
_DEEPEST = 3
_MAX_TERMS = 5


@dataclass(frozen=True)
class Comparison:
    """What another method finds.

    Attributes
    ----------
    method : str
    group, against : str
        The subgroup with the larger favorable share, and the one it is compared with.
    score : Estimate
        Difference of their favorable shares.
    n_group, n_against : float
        People in each.
    """

    method: str
    group: str
    against: str
    score: Estimate
    n_group: float
    n_against: float


def largest_pair(cells: Cells, attributes: Sequence[Attribute], *, level: float = 0.05) -> Comparison | None:
    """Return the two subgroups, by values of the same attributes, whose favorable shares differ most.

    The interval is Newcombe's, at the level over all pairs that were compared.
    """
    best: tuple[float, tuple[int, ...], int, int] | None = None
    pairs = 0
    for size in range(1, min(len(attributes), _DEEPEST) + 1):
        for chosen in combinations(range(len(attributes)), size):
            levels, n, good = _subgroups(cells, chosen)
            large = np.flatnonzero(n >= MIN_PEOPLE)
            pairs += len(large) * (len(large) - 1) // 2
            if len(large) < 2:
                continue
            rate = good[large] / n[large]
            gap = float(rate.max() - rate.min())
            if best is None or gap > best[0] + 1e-12:
                lowest = int(rate.argmin()) if gap > 0 else 1  # another group where all rates are equal
                best = gap, chosen, int(large[rate.argmax()]), int(large[lowest])
    if best is None:
        return None
    _, chosen, high, low = best
    levels, n, good = _subgroups(cells, chosen)
    score = newcombe(good[high], n[high], good[low], n[low], level=level / pairs)
    method = f"Newcombe {percent_level(level)}, corrected for {several(pairs, 'pair')}"
    names = [
        ", ".join(
            f"{attributes[name].name} = {attributes[name].levels[code]}"
            for name, code in zip(chosen, row, strict=True)
        )
        for row in levels[[high, low]]
    ]
    estimate = Estimate(score.value, score.low, score.high, float(n[high] + n[low]), method)
    words = "largest gap between two subgroups"
    return Comparison(words, names[0], names[1], estimate, float(n[high]), float(n[low]))


def linear_threshold(
    people: PeopleCounts,
    cells: Cells,
    attributes: Sequence[Attribute],
    *,
    support: float,
    level: float,
    rng: np.random.Generator,
) -> Comparison | None:
    """Return the linear threshold group that differs most from the rest on one half, stated on the other.

    Parameters
    ----------
    support : float
        Smallest share of people on either side of the threshold.
    """
    first, second = split_halves(people, rng)
    names, x = _design(cells, attributes)
    weight = np.sqrt(first.n.astype(float))
    with np.errstate(invalid="ignore", divide="ignore"):
        target = np.where(first.n > 0, first.favorable / first.n, 0.0) - first.rate
    design = np.column_stack([np.ones(len(x)), x])
    solved, *_ = np.linalg.lstsq(design * weight[:, None], target * weight, rcond=None)
    index = (x @ solved[1:]).round(12)
    order = np.argsort(-index, kind="stable")
    n, good = np.cumsum(first.n[order]), np.cumsum(first.favorable[order])
    # cells with the same index lie on the same side
    ends = np.r_[index[order][1:] != index[order][:-1], False]
    least = max(support * first.total, 1.0)
    ends &= (n >= least) & (first.total - n >= least)
    if not ends.any():
        return None
    gaps = np.abs(
        differences(
            n[ends].astype(float), good[ends].astype(float), first.total, float(first.favorable.sum())
        )
    )
    inside = np.zeros(len(index), dtype=bool)
    inside[order[: np.flatnonzero(ends)[gaps.argmax()] + 1]] = True
    counts = float(second.n[inside].sum()), float(second.n[~inside].sum())
    score = newcombe(
        float(second.favorable[inside].sum()),
        counts[0],
        float(second.favorable[~inside].sum()),
        counts[1],
        level=level,
    )
    words = _words(names, solved[1:], float(index[inside].min()))
    method = f"Newcombe {percent_level(level)}, on the half that it was not fitted on"
    estimate = Estimate(score.value, score.low, score.high, sum(counts), method)
    return Comparison("linear threshold of all attributes", words, "everyone else", estimate, *counts)


def _subgroups(cells: Cells, chosen: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Levels (g, d), people (g,) and favorable ones (g,) of every combination of levels that occurs."""
    levels, place = np.unique(cells.codes[:, chosen], axis=0, return_inverse=True)
    place = place.reshape(-1)
    return levels, np.bincount(place, cells.n), np.bincount(place, cells.favorable)


def _design(cells: Cells, attributes: Sequence[Attribute]) -> tuple[list[str], np.ndarray]:
    """Columns of the linear function: a bin's position in [0, 1], or one column a category but the first."""
    names, columns = [], []
    for place, attribute in enumerate(attributes):
        code = cells.codes[:, place]
        if attribute.ordered:
            names.append(attribute.name)
            columns.append(code / max(len(attribute.levels) - 1, 1))
        else:
            names += [f"{attribute.name} = {level}" for level in attribute.levels[1:]]
            columns += [(code == level).astype(float) for level in range(1, len(attribute.levels))]
    return names, np.column_stack(columns)


def _words(names: Sequence[str], weights: np.ndarray, cut: float) -> str:
    largest = np.argsort(-np.abs(weights), kind="stable")[:_MAX_TERMS]
    words = ""
    for k in largest:
        weight = float(weights[k])
        sign = ("− " if weight < 0 else "") if not words else (" − " if weight < 0 else " + ")
        words += f"{sign}{number(abs(weight))} × [{names[k]}]"
    more = f" + {len(weights) - _MAX_TERMS} more" if len(weights) > _MAX_TERMS else ""
    return f"{words}{more} ≥ {number(cut)}"


def rivals(subject: Subject, options: RuleSetsOptions) -> tuple[Comparison, ...]:
    """Return what both methods find in the decisions on the people of `subject`."""
    attributes, _ = read_attributes(subject.data, options)
    decisions = np.asarray(subject.decisions, dtype=bool)
    cells = count_cells(attributes, decisions, subject.data.weights)
    level, support = options.level, options.support
    rng = np.random.default_rng(0).spawn(7)[4]
    found = (
        largest_pair(cells, attributes, level=level),
        linear_threshold(whole_people(cells), cells, attributes, support=support, level=level, rng=rng),
    )
    return tuple(each for each in found if each is not None)
