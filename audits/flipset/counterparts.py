"""Everyone's counterparts, and those that permuted groups would have: exactly or by a map, by stratum."""

from __future__ import annotations

from typing import Any

import numpy as np

from audits.flipset.groups import Chosen
from audits.flipset.inventing import Inventor
from audits.flipset.learned import map_match
from audits.flipset.matching import Matched, match
from audits.flipset.noise import NullFlips, Pool, permute, permute_maps
from audits.flipset.options import FlipsetOptions
from audits.progress import Progress, part
from audits.transport import estimated_seconds

__all__ = ["match_all", "matching_share", "permuted"]


def matching_share(chosen: Chosen, width: int, options: FlipsetOptions) -> float:
    """Part of the work that is matching everyone, the rest being permutations: for honest progress."""
    if options.transport != "exact":
        return 0.8
    full = sum(estimated_seconds(len(ours), len(theirs), width) for _, ours, theirs in chosen.strata)
    n, m = (min(sum(len(item[side]) for item in chosen.strata), options.noise_people) for side in (1, 2))
    return full / (full + options.permutations * estimated_seconds(n, m, width))


def match_all(
    chosen: Chosen,
    inventor: Inventor,
    sizes: np.ndarray,
    options: FlipsetOptions,
    details: Any,
    rng: np.random.Generator,
    progress: Progress,
) -> list[Matched]:
    """Find everyone's counterparts, stratum by stratum."""
    steps = np.linspace(0, 1, len(chosen.strata) + 1)
    found = []
    for k, (value, ours, theirs) in enumerate(chosen.strata):
        report = part(progress, steps[k], steps[k + 1])
        if options.transport == "exact":
            values, weights = inventor.encoded.values, inventor.encoded.weights
            found.append(
                match(value, ours, theirs, values, sizes, cost=options.cost, weights=weights, progress=report)
            )
        else:
            found.append(
                map_match(
                    value,
                    ours,
                    theirs,
                    inventor,
                    sizes,
                    kind=options.transport,
                    options=details,
                    reverse=options.reverse,
                    rng=rng,
                    progress=report,
                )
            )
    return found


def permuted(
    matched: list[Matched],
    inventor: Inventor,
    decisions: np.ndarray,
    sizes: np.ndarray,
    options: FlipsetOptions,
    details: Any,
    rng: np.random.Generator,
    progress: Progress,
) -> NullFlips | None:
    """Count flips of permuted group membership; None if no permutations are asked for."""
    if options.permutations == 0:
        return None
    asked: dict[str, Any] = {
        "permutations": options.permutations,
        "people": options.noise_people,
        "rng": rng,
        "progress": progress,
    }
    strata = [(item.source, item.target) for item in matched]
    if any(item.there.invented is not None for item in matched):
        return permute_maps(
            strata, inventor, decisions, sizes, kind=options.transport, options=details, **asked
        )
    x = inventor.encoded.values
    pools = [Pool(x[s], decisions[s], sizes[s], x[t], decisions[t], sizes[t]) for s, t in strata]
    return permute(pools, cost=options.cost, weights=inventor.encoded.weights, **asked)
