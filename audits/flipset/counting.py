"""Flips counted from couplings (Definition 1), whole or in shares where mass splits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from audits.flipset.matching import Counterparts, Matched
from audits.flipset.transparency import FlipLinks

__all__ = ["Flips", "count_flips"]


@dataclass(frozen=True, eq=False)
class Flips:
    """Flip shares, source people of all strata in a row (n,), target people likewise (m,).

    Attributes
    ----------
    source, target : arrays of int (n,), (m,)
        Positions in the audited data.
    positive, negative : arrays (n,)
        Share of the person's counterparts towards whom the decision flips that way.
    reach : array (n,)
        Share of the person's counterparts decided favourably.
    found : array (n,)
        Share of the person who has a counterpart: 1 but for unbalanced transport. The rest cannot flip.
    back_positive, back_negative : arrays (m,) or None
        The same for target people towards the source.
    positive_links, negative_links : lists of FlipLinks
        Flipping mass between atoms, one a stratum.
    """

    source: np.ndarray
    target: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    reach: np.ndarray
    found: np.ndarray
    back_positive: np.ndarray | None
    back_negative: np.ndarray | None
    positive_links: list[FlipLinks]
    negative_links: list[FlipLinks]


def count_flips(matched: list[Matched], decisions: np.ndarray, sizes: np.ndarray) -> Flips:
    """Count flips both ways from the couplings of all strata.

    Parameters
    ----------
    decisions : bool array (n,)
        Favourable decisions of all audited people.
    sizes : array (n,)
        People each row stands for.
    """
    reach, found, positive_links, negative_links = [], [], [], []
    for part in matched:
        own = part.mean_by_source(decisions[part.source], sizes[part.source])  # (K,)
        other = _favored(part.there, part.mean_by_target, decisions[part.target], sizes[part.target])
        # a share of counterparts is a sum of products: rounding must not leave [0, 1]
        reach.append(_clean(part.there.shares @ other)[part.source_atom])
        found.append(part.there.found[part.source_atom])
        people = part.source_size * part.there.found
        positive_links.append(_links(part, own * people, 1 - other))
        negative_links.append(_links(part, people - own * people, other))
    source, target = (
        np.concatenate([getattr(part, side) for part in matched]) for side in ("source", "target")
    )
    h, reached, has = decisions[source].astype(float), np.concatenate(reach), np.concatenate(found)
    back = _back(matched, decisions, sizes)
    return Flips(
        source=source,
        target=target,
        positive=h * (1 - reached) * has,
        negative=(1 - h) * reached * has,
        reach=reached,
        found=has,
        back_positive=None if back is None else back[0],
        back_negative=None if back is None else back[1],
        positive_links=positive_links,
        negative_links=negative_links,
    )


def _back(
    matched: list[Matched], decisions: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Flip shares (m,) of target people, positive and negative; None where the way back is not known."""
    positive, negative = [], []
    for part in matched:
        if part.back is None:
            return None
        own = _favored(part.back, part.mean_by_source, decisions[part.source], sizes[part.source])
        reached = _clean(part.back.shares @ own)[part.target_atom]
        has = part.back.found[part.target_atom]
        g = decisions[part.target].astype(float)
        positive.append(g * (1 - reached) * has)
        negative.append((1 - g) * reached * has)
    return np.concatenate(positive), np.concatenate(negative)


def _favored(
    counterparts: Counterparts,
    mean: Callable[[np.ndarray, np.ndarray], np.ndarray],
    decisions: np.ndarray,
    sizes: np.ndarray,
) -> np.ndarray:
    """Share (L,) of each counterpart decided favourably; real ones may be several people alike."""
    if counterparts.invented is not None:
        return counterparts.invented.decisions.astype(float)
    return mean(decisions, sizes)


def _clean(shares: np.ndarray) -> np.ndarray:
    """Shares clipped to [0, 1], those within rounding of an end set to it."""
    shares = np.where(shares < 1e-9, 0.0, shares)
    return np.where(shares > 1 - 1e-9, 1.0, shares)


def _links(part: Matched, people: np.ndarray, target_share: np.ndarray) -> FlipLinks:
    """Mass (K, L) of `people` per source atom that goes to the `target_share` of each target atom."""
    people = np.where(people < 1e-9 * part.source_size, 0.0, people)
    mass = sparse.coo_array(sparse.diags_array(people) @ part.there.shares @ sparse.diags_array(target_share))
    mass.eliminate_zeros()
    return FlipLinks(part, mass, people)
