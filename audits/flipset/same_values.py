"""The other question: are people with the same value of a feature decided alike? (Section 5.5)

FairTest compares people of two groups who agree in a feature; FlipTest compares people who stand alike within
their groups. Where a feature's values themselves differ between the groups the two disagree, and the
disagreement says through which feature the difference passes.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.data.values import MISSING
from audits.flipset.parts import FlipsetPart, SameValue
from audits.stats import Estimate, newcombe, weighted_sum
from audits.stats.words import percent

__all__ = ["comparison", "same_values"]

_MOST_VALUES = 20
_BINS = 10


def same_values(
    frame: pd.DataFrame,
    scaled: dict[str, bool],
    source: np.ndarray,
    target: np.ndarray,
    decisions: np.ndarray,
    sizes: np.ndarray,
    level: float,
) -> tuple[SameValue, ...]:
    """Difference of favourable rates among people who agree in a feature, one feature at a time.

    Parameters
    ----------
    frame : DataFrame (n, features)
        Raw features of all audited people.
    scaled : dict
        Feature to whether its values are numbers with a scale; those with more than 20 values are cut into
        ten parts of as many people each.
    source, target : arrays of int
        Positions of the two groups' people.

    Returns
    -------
    tuple of SameValue
        Within each value the source's rate minus the target's, averaged over the source people whose value
        occurs in the target group too; the smallest difference first.
    """
    found: list[SameValue] = []
    nowhere: list[SameValue] = []
    rows = np.concatenate([source, target])
    for feature in frame.columns:
        codes = _codes(frame[feature].iloc[rows], sizes[rows], scaled[feature])
        ours, theirs = codes[: len(source)], codes[len(source) :]
        k = int(codes.max()) + 1
        n, m = (np.bincount(code, sizes[who], k) for code, who in ((ours, source), (theirs, target)))
        h, g = (
            np.bincount(code, sizes[who] * decisions[who], k)
            for code, who in ((ours, source), (theirs, target))
        )
        both = np.flatnonzero((n > 0) & (m > 0))
        coverage = float(n[both].sum() / n.sum())
        if len(both) == 0:
            nothing = Estimate(None, None, None, 0.0, "no value occurs in both groups")
            nowhere.append(SameValue(str(feature), nothing, coverage, 0))
            continue
        parts = [newcombe(h[c], n[c], g[c], m[c], level=level) for c in both]
        difference = weighted_sum(parts, (n[both] / n[both].sum()).tolist())
        found.append(SameValue(str(feature), difference, coverage, len(both)))
    return tuple(
        sorted(
            found, key=lambda item: np.inf if item.difference.value is None else abs(item.difference.value)
        )
    )


def _codes(values: pd.Series, sizes: np.ndarray, scaled: bool) -> np.ndarray:
    if scaled and values.nunique() > _MOST_VALUES:
        place, distinct = pd.factorize(values, sort=True)
        known = place >= 0
        people = np.cumsum(np.bincount(place[known], sizes[known], len(distinct)))
        parts = np.ceil(_BINS * people / people[-1])
        return pd.factorize(np.where(known, parts[place], -1.0))[0]
    return pd.factorize(values.astype("string").fillna(MISSING))[0]


def comparison(
    found: tuple[SameValue, ...], net: Estimate, larger: FlipsetPart, source: str, target: str
) -> str | None:
    """Say where comparing at equal values and comparing with counterparts disagree, and why; None if not.

    They disagree where the groups' rates differ for sure and people who agree in one feature, present in
    both groups, are decided alike: their difference is less than a third of that.
    """
    if net.value is None or net.low is None or net.high is None or net.low <= 0 <= net.high:
        return None
    for item in found:
        gap = item.difference.value
        if gap is None or item.coverage < 0.5 or abs(gap) * 3 > abs(net.value):
            continue
        away = next((line for line in larger.transparency if line.column == item.feature), None)
        if away is None or away.mean_difference.value in (None, 0.0):
            continue
        return (
            f"Two tests disagree: {source} and {target} people with the same {item.feature} are decided "
            f"alike (difference {percent(gap, item.difference.n)}), yet the groups' rates differ by "
            f"{percent(net.value, net.n)}. The difference passes through {item.feature}, whose values differ "
            "between the groups. Whether it is justified depends on whether that feature is."
        )
    return None
