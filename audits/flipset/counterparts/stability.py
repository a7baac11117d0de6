"""Does a person still flip with other people in the data, another seed, another map? (Figure 2.)

Section 3.2 asks how far a counterpart varies over draws of the other people. Here there are none, so half of
each group is drawn without replacement (people drawn twice would be their own counterparts) and matched
again, with a seed of its own and, where several maps are asked for, by each in turn. Groups of half the size
give more flips by chance: the probabilities err on the side of doubt about who does not flip.
"""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np

from audits.flipset.counterparts.generated import match_people
from audits.flipset.counterparts.matching import Matching, count_flips, draw_rows
from audits.flipset.counterparts.people import Comparison
from audits.flipset.counterparts.validation import feature_gaps
from audits.flipset.options import FlipsetOptions
from audits.flipset.result import Stability
from audits.progress import Progress
from audits.stats import Estimate

_OFTEN = 0.9


def repeat(
    compared: Comparison, matched: list[Matching], rng: np.random.Generator, progress: Progress
) -> tuple[Stability | None, dict[str, np.ndarray]]:
    """Match again as often as asked for; return the spread, and each source person's flips.

    Returns
    -------
    Stability or None
        None where nothing was to be repeated.
    dict
        ``flips_again`` and ``times`` of every source person in the order of `matched`, (n,): in how many of
        how many repeats, those that the person took part in, the decision differs from the counterparts'.
    """
    options = compared.options
    if not options.repeats:
        return None, {}
    maps: list[str] = list(options.repeat_maps) or [options.transport]
    n = sum(len(part.source.rows) for part in matched)
    flipped, times = np.zeros(n), np.zeros(n)
    runs: list[dict[str, str | float]] = []
    place = np.full(compared.subject.data.n, -1)
    place[np.concatenate([part.source.rows for part in matched])] = np.arange(n)
    for k, seed in enumerate(rng.spawn(options.repeats)):
        kind = maps[k % len(maps)]
        progress(k / options.repeats, f"Matching again: {k + 1} of {options.repeats}, {kind}")
        own = _drawn(replace(compared, options=_of(compared, kind)), matched, seed)
        parts = [_once(own, part, seed) for part in matched]
        flips = count_flips(own, parts)
        mine = place[flips.source]
        np.add.at(flipped, mine, flips.positive + flips.negative)
        np.add.at(times, mine, 1)
        sizes = own.sizes[flips.source]
        runs.append(
            {
                "map": kind,
                "positive": float(flips.positive @ sizes / sizes.sum()),
                "negative": float(flips.negative @ sizes / sizes.sum()),
                "ks": max(float(feature_gaps(own, part).max()) for part in parts),
            }
        )
    people = {"flips_again": flipped, "times": times.astype(int)}
    return _spread(compared, matched, people, runs, maps), people


def _of(compared: Comparison, kind: str) -> FlipsetOptions:
    """Options of another map have nothing to say to this one."""
    options = compared.options
    own = options.map if kind == options.transport else None
    return dataclasses.replace(options, transport=kind, map=own, reverse=False)  # type: ignore[arg-type]


def _drawn(compared: Comparison, matched: list[Matching], rng: np.random.Generator) -> Comparison:
    """Everyone, or half of the people of each side of every stratum: of a row for many, some may be drawn."""
    if not compared.options.repeat_people:
        return compared
    sizes = np.zeros(len(compared.sizes))
    for side in (side.rows for part in matched for side in (part.source, part.target)):
        half = max(1, round(compared.sizes[side].sum() / 2))
        sizes[side] = np.bincount(draw_rows(compared.sizes[side], half, rng), minlength=len(side))
    return replace(compared, sizes=sizes)


def _once(compared: Comparison, part: Matching, rng: np.random.Generator) -> Matching:
    """Those people of one stratum who are drawn, matched again."""
    source, target = (side.rows[compared.sizes[side.rows] > 0] for side in (part.source, part.target))
    return match_people(compared, part.value, source, target, rng)


def _spread(
    compared: Comparison,
    matched: list[Matching],
    people: dict[str, np.ndarray],
    runs: list[dict[str, str | float]],
    maps: list[str],
) -> Stability:
    sizes = np.concatenate([part.source.people for part in matched])
    asked = people["times"] > 0
    share = people["flips_again"][asked] / people["times"][asked]
    weights = sizes[asked]

    def middle(name: str) -> Estimate:
        values = np.array([float(run[name]) for run in runs])
        low, high = np.quantile(values, [0.05, 0.95])
        method = f"middle 90% of {len(values)} repeats"
        return Estimate(float(values.mean()), float(low), float(high), float(sizes.sum()), method)

    edges = np.linspace(0, 1, 11)
    return Stability(
        repeats=len(runs),
        maps=tuple(maps),
        halves=compared.options.repeat_people,
        positive=middle("positive"),
        negative=middle("negative"),
        ks=middle("ks"),
        nearly_always=float(weights[share >= _OFTEN].sum()),
        nearly_never=float(weights[share <= 1 - _OFTEN].sum()),
        people=float(weights.sum()),
        histogram={
            "edges": edges.tolist(),
            "people": np.histogram(share, edges, weights=weights)[0].tolist(),
        },
        runs=tuple(runs),
    )
