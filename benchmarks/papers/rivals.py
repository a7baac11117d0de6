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
import pandas as pd

from audits.models import Subject
from audits.rule_sets.inference.permutation import split_halves, whole_people
from audits.rule_sets.options import RuleSetsOptions
from audits.stats.text import number
from audits.subgroups.attributes import Attribute
from audits.subgroups.binning import read_attributes
from audits.subgroups.cells import Cells, count_cells
from audits.subgroups.scores import differences

MIN_PEOPLE = 30
_DEEPEST = 3
_MAX_TERMS = 5


@dataclass(frozen=True)
class Rival:
    """What another method finds.

    Attributes
    ----------
    method : str
    group : str
        The subgroup with the largest favorable share, or that of the linear threshold.
    score : float
        Its favorable share less that of the subgroup it is compared with, in [-1, 1].
    people : float
        How many are in it, and of the linear threshold in the half that it is stated on.
    """

    method: str
    group: str
    score: float
    people: float


def largest_pair(cells: Cells, attributes: Sequence[Attribute]) -> Rival | None:
    """Return the two subgroups, by values of the same attributes, whose favorable shares differ most."""
    best: Rival | None = None
    table = pd.DataFrame(cells.codes).assign(n=cells.n, favorable=cells.favorable)
    for size in range(1, min(len(attributes), _DEEPEST) + 1):
        for chosen in combinations(range(len(attributes)), size):
            sums = table.groupby(list(chosen))[["n", "favorable"]].sum()
            sums = sums[sums["n"] >= MIN_PEOPLE]
            rate = sums["favorable"] / sums["n"]
            gap = float(rate.max() - rate.min())
            if len(rate) > 1 and (best is None or gap > best.score + 1e-12):
                highest = int(rate.argmax())
                codes = zip(chosen, np.atleast_1d(rate.index[highest]), strict=True)
                words = ", ".join(f"{attributes[k].name} = {attributes[k].levels[code]}" for k, code in codes)
                people = float(sums["n"].iloc[highest])
                best = Rival("largest gap between two subgroups", words, gap, people)
    return best


def linear_threshold(cells: Cells, attributes: Sequence[Attribute], *, support: float) -> Rival | None:
    """Return the linear threshold group that differs most from the rest on one half, stated on the other.

    Parameters
    ----------
    support : float
        Smallest share of people on either side of the threshold.
    """
    first, second = split_halves(whole_people(cells), np.random.default_rng(0).spawn(7)[4])
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
    counts = n[ends].astype(float), good[ends].astype(float), first.total, float(first.favorable.sum())
    cut = np.flatnonzero(ends)[np.abs(differences(*counts)).argmax()]
    inside = np.zeros(len(index), dtype=bool)
    inside[order[: cut + 1]] = True
    own, rest = (second.favorable[side].sum() / second.n[side].sum() for side in (inside, ~inside))
    words = _words(names, solved[1:], float(index[inside].min()))
    people = float(second.n[inside].sum())
    return Rival("linear threshold of all attributes", words, float(own - rest), people)


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


def rivals(subject: Subject, options: RuleSetsOptions) -> tuple[Rival, ...]:
    """Return what both methods find in the decisions on the people of `subject`."""
    attributes, _ = read_attributes(subject.data, options)
    decisions = np.asarray(subject.decisions, dtype=bool)
    cells = count_cells(attributes, decisions, subject.data.weights)
    found = (
        largest_pair(cells, attributes),
        linear_threshold(cells, attributes, support=options.support),
    )
    return tuple(each for each in found if each is not None)
