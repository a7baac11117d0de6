"""Two models' gap between the same groups: how it moved, and how what is left with each column did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from audits.checks import build
from audits.comparison.intervals import Moved, People, linear_moved, share_moved
from audits.comparison.pairs import Pairing, Pairs, common, estimates_of, limit_on_rates
from audits.explain.bins import levels_of
from audits.explain.doubly_robust import MIN
from audits.explain.options import ExplainOptions
from audits.explain.result import ExplainResult
from audits.stats.text import people_in

_GIVEN = "Intervals of what is left take as given which levels are compared."
_WHY = {
    "": "see the change in what is left with each column",
    "together": "it is learned separately for each model",
    "levels": "they are learned separately for each model",
    "values": "see the change in what is left at these levels",
}


def compare(first: ExplainResult, second: ExplainResult, subjects: Any = None) -> Pairing:
    """Return how the gap and its parts moved; see `audits.comparison.pairs`."""
    if subjects is None:
        return Pairing(why={"": "the audit keeps no people: run both models in one run"})
    options = build(ExplainOptions, second.options, "explain")
    if options.outcome == "label":
        return Pairing(why={"": "the gap of labels is the same whatever the model"})
    if subjects[1].data.numeric is not None:
        return Pairing(why={"": "what is left of a numeric outcome is not paired: see the gap among groups"})
    if second.rows["audited"] != subjects[1].data.n:
        return Pairing(why={"": "one row of each person was drawn, and the audit keeps none of them"})
    data = subjects[1].data
    masks = [
        data.members(getattr(options, side), argument=f"explain.{side}") for side in ("source", "target")
    ]
    here = np.flatnonzero(masks[0] | masks[1])
    design = data.design
    sizes = (data.row_weights if design is None else design.weights)[here]
    side = masks[0][here]
    favored = [np.asarray(subject.decisions, dtype=bool)[here] for subject in subjects]
    people = People.counted(sizes) if design is None else People.sampled(design.take(masks[0] | masks[1]))
    pairs = Pairs(people, **limit_on_rates(second.options, sizes, favored))
    both, (source, target) = (first, second), (people_in(name) for name in (second.source, second.target))
    own, rest = (share_moved(people, (mask, favored[0]), (mask, favored[1])) for mask in (side, ~side))
    words = f"gap in favorable decisions between {source} and {target}"
    pairs.gap("gap", words, estimates_of(both, "gap"), rest, own)
    pairs.add("source_rate", f"favorable share of {source}", estimates_of(both, "source_rate"), own, "share")
    pairs.add("target_rate", f"favorable share of {target}", estimates_of(both, "target_rate"), rest, "share")
    places = {item.columns: place for place, item in enumerate(second.each)}
    for items in common(first.each, second.each, "columns"):
        name = items[1].columns[0]
        level = levels_of(data.frame[name].iloc[here], data.kinds[name], options.bins).code
        moved = _left(people, level, side, favored, sizes)
        words, place = f"gap left between {source} and {target} at the same {name}", places[items[1].columns]
        pairs.add(f"each[{place}].unexplained", words, estimates_of(items, "unexplained"), moved, "gap")
    return pairs.pairing(given=_GIVEN, why=_WHY)


def _left(
    people: People, level: np.ndarray, source: np.ndarray, favored: Sequence[np.ndarray], sizes: np.ndarray
) -> Moved:
    """How what is left moved: the same contrast of how each person's decision changed, which is linear."""
    changed = favored[1].astype(float) - favored[0].astype(float)
    k = int(level.max()) + 1
    n, m = (np.bincount(level[side], sizes[side], k) for side in (source, ~source))
    held = np.bincount(level[~source], np.maximum(np.rint(sizes[~source]), 1), k) >= MIN
    inside = held[level]
    total = float(n[held].sum())
    if total <= 0:
        return linear_moved(people, inside, None, np.zeros(len(level)))
    rate = np.bincount(level[~source], (sizes * changed)[~source], k) / np.maximum(m, 1e-300)
    residual = changed - rate[level]
    value = float((sizes * residual)[source & inside].sum() / total)
    ratio = np.divide(n, m, out=np.zeros(k), where=m > 0)[level]
    parts = np.where(source, residual - value, -ratio * residual) * inside / total
    return linear_moved(people, inside, value, parts)
