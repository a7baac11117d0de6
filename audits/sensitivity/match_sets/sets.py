"""Match sets (sections 5 and 6): does sensitivity find the people whom an unbiased twin decides otherwise?

The match set holds everyone whom the audited model and its twin decide alike, or whom the audited model
decides as their true counterfactual where the data hold that; sensitivity is meant to be high outside. Two
rivals that know nothing of groups are always held beside it, |grad F| and closeness to the decision
threshold, because a person near the threshold is decided otherwise by almost any second model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from audits.models.quality import area_under_curve
from audits.sensitivity.match_sets.counterfactual_model import TwinMetric
from audits.stats import Estimate, wilson
from audits.stats.curves import area_equally_far, area_within, roc_curves
from audits.stats.means import mean_test
from audits.stats.text import count, number, percent_interval

MIN = 10
"""Non-members below which no curve is drawn."""

Source = Literal["twin", "counterfactuals"]

NAMES = ("sensitivity", "gradient", "boundary")


@dataclass(frozen=True)
class Curve:
    """The ROC curve of one score for telling non-members from members, with its band and area."""

    name: str
    auc: Estimate
    false_positive: tuple[float, ...]
    true_positive: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Band:
    """People about equally far from the decision threshold: |p - threshold| from `low` to `high`."""

    low: float
    high: float
    n: float
    mismatched: float
    auc: Estimate


@dataclass(frozen=True)
class MatchSet:
    """Sensitivity compared with the decisions of an unbiased twin, or on true counterfactuals.

    Attributes
    ----------
    twin : str
        How the twin, or the counterfactuals, were made.
    mismatched : Estimate
        Share of people decided otherwise: the non-members.
    by_chance : Estimate or None
        Share that a model trained anew on the same data decides otherwise: what is not about groups.
    auc : Estimate
        Area under the curve of sensitivity; 0.5 says that it finds nothing.
    curves : tuple of Curve
        Sensitivity, |grad F| ("gradient"), closeness to the threshold ("boundary"); empty for too few.
    against : dict of str to Estimate
        Area of sensitivity minus the rival's.
    bands : tuple of Band
    within_bands : Estimate
        Area among pairs of the same band. Within a band the distance still differs, so a score that is
        nothing but the distance lies above 0.5 here.
    equally_far : Estimate
        Area beside people just nearer and just farther: what sensitivity adds to the distance.
    adds : bool or None
        Whether the interval of `equally_far` lies above 0.5; None for too few people.
    sentence : str
    source : {"twin", "counterfactuals"}
    sides : tuple of MatchSetSide
        Sensitivity of those decided alike and of those decided otherwise (Figures 4a and 6).
    metrics : tuple of TwinMetric
        Group metrics of the audited model, of its twin and of a model trained anew (Figure 5); none of
        counterfactuals.
    """

    twin: str
    n: float
    mismatched: Estimate
    by_chance: Estimate | None
    auc: Estimate
    curves: tuple[Curve, ...]
    against: dict[str, Estimate]
    bands: tuple[Band, ...]
    within_bands: Estimate
    equally_far: Estimate
    adds: bool | None
    sentence: str
    source: Source = "twin"
    sides: tuple[MatchSetSide, ...] = ()
    metrics: tuple[TwinMetric, ...] = ()

    @property
    def question(self) -> str:
        """What the curves answer."""
        if self.source == "twin":
            return "Does it find people who get another decision from an unbiased twin model?"
        return "Does it find people whose true counterfactual gets another decision?"


def match_set(
    sensitivity: np.ndarray,
    influence: np.ndarray,
    distance: np.ndarray,
    mismatched: np.ndarray,
    *,
    twin: str,
    source: Source = "twin",
    by_chance: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    bands: int = 5,
    draws: int = 300,
    level: float = 0.05,
    rng: np.random.Generator,
) -> MatchSet:
    """Hold sensitivity (n,) and its two rivals against `mismatched` (n,) bool.

    Parameters
    ----------
    influence, distance : (n,)
        |grad F|, and |p - threshold|.
    mismatched, by_chance : (n,) bool
        Whom the twin, and a model merely trained anew, decide otherwise; or whose true counterfactuals the
        model itself decides otherwise.
    bands : int
        Bands of `distance`, with about equally many mismatched people each.
    """
    size = np.ones(len(sensitivity)) if weights is None else weights
    n, missed = float(size.sum()), float(size @ mismatched)
    scores = np.array([sensitivity, influence, -distance])
    areas = [area_under_curve(score, mismatched, size, level=level) for score in scores]
    sides = sides_of(sensitivity, np.asarray(mismatched, dtype=bool), size, level)
    share = wilson(missed, n, level=level)
    chance = None if by_chance is None else wilson(float(size @ by_chance), n, level=level)
    if min(np.count_nonzero(mismatched), np.count_nonzero(~mismatched)) < MIN:
        nothing = Estimate(None, None, None, n, "too few people")
        text = (
            f"{_missing_phrase(source, missed, n, share)} That is too few on one side to say whether "
            "sensitivity finds them."
        )
        none: tuple[Curve, ...] = ()
        return MatchSet(
            twin, n, share, chance, areas[0], none, {}, (), nothing, nothing, None, text, source, sides
        )
    curves = roc_curves(scores, mismatched, rng, weights=weights, draws=draws, level=level)
    shown = tuple(
        Curve(
            name,
            areas[k],
            tuple(curves.grid.tolist()),
            *(tuple(each[k].tolist()) for each in (curves.rate, curves.low, curves.high)),
        )
        for k, name in enumerate(NAMES)
    )
    against = {NAMES[k]: curves.difference(0, k, n, level=level) for k in (1, 2)}
    place, edges = _bands(distance, mismatched, bands)
    within = area_within(sensitivity, mismatched, place, rng, weights=weights, draws=draws, level=level)
    parts = []
    for each in range(len(edges) - 1):
        rows = place == each
        auc = area_under_curve(sensitivity[rows], mismatched[rows], size[rows], level=level)
        here = float(size[rows].sum())
        parts.append(
            Band(float(edges[each]), float(edges[each + 1]), here, float(size[rows] @ mismatched[rows]), auc)
        )
    beside = area_equally_far(
        sensitivity, mismatched, distance, rng, weights=weights, draws=draws, level=level
    )
    adds = beside.low is not None and beside.low > 0.5
    text = f"{_missing_phrase(source, missed, n, share)} {_sentence(areas, beside, adds, against)}"
    return MatchSet(
        twin,
        n,
        share,
        chance,
        areas[0],
        shown,
        against,
        tuple(parts),
        within,
        beside,
        adds,
        text,
        source,
        sides,
    )


def _missing_phrase(source: Source, missed: float, n: float, share: Estimate) -> str:
    """Say how many people are no members."""
    many = f"{count(missed)} of {count(n)} people ({percent_interval(share)})"
    if source == "twin":
        return f"The twin model makes another decision for {many}."
    return f"The true counterfactual of {many} gets another decision."


def _bands(distance: np.ndarray, mismatched: np.ndarray, bands: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each person's band (n,), -1 beyond the furthest mismatched one, and the bands' edges."""
    inner = np.quantile(distance[mismatched], np.linspace(0, 1, bands + 1))
    inner[0] = 0.0
    edges = np.unique(inner)
    if len(edges) == 1:
        edges = np.array([0.0, max(float(edges[0]), 1e-12)])
    place = np.clip(np.searchsorted(edges, distance, side="left") - 1, 0, len(edges) - 2)
    return np.where(distance > edges[-1], -1, place), edges


def _sentence(
    areas: list[Estimate],
    equally_far: Estimate,
    adds: bool,
    against: dict[str, Estimate],
) -> str:
    """Say plainly whether sensitivity adds anything here."""
    rest = f"AUC {number(equally_far.value)}, {number(equally_far.low)}–{number(equally_far.high)}"
    judged = (
        "Sensitivity adds to it: among people equally far from the threshold, it still tells the two "
        f"apart ({rest})."
        if adds
        else "Sensitivity adds nothing to distance from the threshold here: among people about equally "
        "far from it, "
        f"it does not tell the two apart ({rest})."
    )
    gap = against["gradient"]
    low, high = gap.low or 0.0, gap.high or 0.0
    beside = "better than" if low > 0 else "worse than" if high < 0 else "no better than"
    side = "below" if areas[0].high is not None and areas[0].high < 0.5 else "above"
    return (
        f"Sensitivity ranks them {side} the rest with an AUC of {number(areas[0].value)}, {beside} the plain "
        f"gradient |∇F| ({number(areas[1].value)}); closeness to the decision threshold alone has "
        f"{number(areas[2].value)}. {judged}"
    )


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class MatchSetSide:
    """Sensitivity of the members of the match set, or of the others (Figures 4a and 6).

    `quantiles` are those at `QUANTILES`; none where a side is empty.
    """

    name: str
    mean: Estimate
    quantiles: tuple[float, ...]


def sides_of(
    sensitivity: np.ndarray, mismatched: np.ndarray, weights: np.ndarray, level: float
) -> tuple[MatchSetSide, ...]:
    """Describe sensitivity (n,) of the people decided alike, and of those decided otherwise (n,) bool."""
    found = []
    for name, here in (("same decision", ~mismatched), ("another decision", mismatched)):
        if not here.any():
            found.append(MatchSetSide(name, Estimate(None, None, None, 0.0, "nobody"), ()))
            continue
        mean = mean_test(sensitivity[here], weights[here]).interval(level)
        shares = np.quantile(sensitivity[here], QUANTILES, weights=weights[here], method="inverted_cdf")
        found.append(MatchSetSide(name, mean, tuple(shares.tolist())))
    return tuple(found)
