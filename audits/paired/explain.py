"""Two models' gap between the same groups: how it moved, and how what is left among people alike did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from audits.checks import build
from audits.explain.decomposing import CellCounts, codes_of, parts_of
from audits.explain.options import ExplainOptions
from audits.explain.result import ExplainResult
from audits.paired.moved import Moved, People, apart, linear_moved, share_moved
from audits.paired.pairing import Pairing, Row
from audits.stats.words import people_in

__all__ = ["paired"]

_SCALED = {"continuous", "integer", "datetime"}  # kinds that the audit cuts into bins
_GIVEN = "Intervals of what is left take as given which values are compared."
_WHY = {
    "": "see how what is left among people alike moved; the rest of the gap goes with it",
    "together": "the columns taken together are chosen anew for each model",
    "values": "see how what is left within them moved",
}


def paired(first: ExplainResult, second: ExplainResult, subjects: Any = None) -> Pairing:
    """Return how the gap and its parts moved; see `audits.paired.pairing`."""
    if subjects is None:
        return Pairing(why={"": "the audit keeps no people: run both models in one run"})
    options = build(ExplainOptions, second.options, "explain")
    if options.outcome == "label":
        return Pairing(why={"": "the gap of labels is the same whatever the model"})
    if second.rows["audited"] != subjects[1].data.n:
        return Pairing(why={"": "one row of each person was drawn, and the audit keeps none of them"})
    data = subjects[1].data
    masks = [
        data.members(getattr(options, side), argument=f"explain.{side}") for side in ("source", "target")
    ]
    here = np.flatnonzero(masks[0] | masks[1])
    sizes = (np.ones(data.n) if data.weights is None else data.weights)[here]
    side = masks[0][here]
    favored = [np.asarray(subject.decisions, dtype=bool)[here] for subject in subjects]
    people, material = People.counted(sizes), float(second.options["material"])
    own, rest = (share_moved(people, (mask, favored[0]), (mask, favored[1])) for mask in (side, ~side))
    source, target = people_in(second.source), people_in(second.target)
    words = f"gap in favorable decisions between {source} and {target}"
    rows = [Row("gap", words, first.gap, second.gap, apart(rest, own, people), "gap", material=material)]
    words = f"favorable share of {source}"
    rows.append(Row("source_rate", words, first.source_rate, second.source_rate, own, "share", judged=False))
    words = f"favorable share of {target}"
    rows.append(Row("target_rate", words, first.target_rate, second.target_rate, rest, "share", judged=False))
    then = {item.columns: item for item in first.each}
    for place, item in enumerate(second.each):
        if item.columns not in then:
            continue
        name = item.columns[0]
        scaled = data.kinds[name] in _SCALED
        cell, _ = codes_of(data.frame[name].iloc[here], scaled=scaled, bins=options.bins)
        moved = _left(people, cell, side, favored, sizes)
        words = f"gap left between {source} and {target} alike in {name}"
        stated = (then[item.columns].unexplained, item.unexplained)
        rows.append(Row(f"each[{place}].unexplained", words, *stated, moved, "gap", material=material))
    return Pairing(tuple(rows), given=_GIVEN, why=_WHY)


def _left(
    people: People, cell: np.ndarray, source: np.ndarray, favored: Sequence[np.ndarray], sizes: np.ndarray
) -> Moved:
    """How the part left among people alike moved: linear in what each person's decision changed.

    Each person adds their own change within the cell, and, by being there, to how the cell counts.
    """
    sides = [CellCounts.count(cell, source, each, sizes) for each in favored]
    common = sides[1].common
    if not common.any():
        nobody = np.zeros(len(cell))
        return linear_moved(people, nobody.astype(bool), None, nobody)
    value = float(np.subtract(*(parts_of(side, common).unexplained[0] for side in sides[::-1])))
    changed = favored[1].astype(float) - favored[0].astype(float)
    inside, k = common[cell], len(common)
    rates, shares, sums = [], [], []
    for mask in (source, ~source):
        size = np.bincount(cell[mask & inside], sizes[mask & inside], k)
        moved = np.bincount(cell[mask & inside], (sizes * changed)[mask & inside], k)
        sums.append(float(size.sum()))
        shares.append(size / max(sums[-1], 1e-300))
        rates.append(np.divide(moved, size, out=np.zeros(k), where=size > 0))
    apart_by, weight = rates[0] - rates[1], (shares[0] + shares[1]) / 2
    parts = np.zeros(len(cell))
    for mask, rate, share, total, sign in zip(
        (source, ~source), rates, shares, sums, (1.0, -1.0), strict=True
    ):
        here = mask & inside
        per = weight[cell[here]] / np.maximum(share[cell[here]] * total, 1e-300)
        counted = (apart_by[cell[here]] - share @ apart_by) / (2 * total)
        parts[here] = sign * per * (changed[here] - rate[cell[here]]) + counted
    return linear_moved(people, inside, value, parts)
