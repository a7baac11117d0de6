"""Flips counted from couplings (Definition 1), whole or in shares where mass splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from audits.flipsets.matching import Matched
from audits.flipsets.transparency import FlipLinks

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
    back_positive, back_negative : arrays (m,)
        The same for target people towards the source.
    positive_links, negative_links : lists of FlipLinks
        Flipping mass between atoms, one a stratum.
    """

    source: np.ndarray
    target: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    reach: np.ndarray
    back_positive: np.ndarray
    back_negative: np.ndarray
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
    reach, back, positive_links, negative_links = [], [], [], []
    for part in matched:
        h, g = decisions[part.source], decisions[part.target]
        favored_source = part.mean_by_source(h, sizes[part.source])  # (K,)
        favored_target = part.mean_by_target(g, sizes[part.target])  # (L,)
        # a share of counterparts is a sum of products: rounding must not leave [0, 1]
        reach.append(_clean(part.shares @ favored_target)[part.source_atom])
        back.append(_clean(part.back_shares @ favored_source)[part.target_atom])
        favored = favored_source * part.source_size
        positive_links.append(_links(part, favored, 1 - favored_target))
        negative_links.append(_links(part, part.source_size - favored, favored_target))
    source, target = (
        np.concatenate([getattr(part, side) for part in matched]) for side in ("source", "target")
    )
    h, g = decisions[source].astype(float), decisions[target].astype(float)
    reached, backed = np.concatenate(reach), np.concatenate(back)
    return Flips(
        source=source,
        target=target,
        positive=h * (1 - reached),
        negative=(1 - h) * reached,
        reach=reached,
        back_positive=g * (1 - backed),
        back_negative=(1 - g) * backed,
        positive_links=positive_links,
        negative_links=negative_links,
    )


def _clean(shares: np.ndarray) -> np.ndarray:
    """Shares clipped to [0, 1], those within rounding of an end set to it."""
    shares = np.where(shares < 1e-9, 0.0, shares)
    return np.where(shares > 1 - 1e-9, 1.0, shares)


def _links(part: Matched, people: np.ndarray, target_share: np.ndarray) -> FlipLinks:
    """Mass (K, L) of `people` per source atom that goes to the `target_share` of each target atom."""
    people = np.where(people < 1e-9 * part.source_size, 0.0, people)
    mass = sparse.coo_array(sparse.diags_array(people) @ part.shares @ sparse.diags_array(target_share))
    mass.eliminate_zeros()
    return FlipLinks(part, mass, people)
