"""Counterparts of everyone, and the flips that they make (Definition 1), in shares where mass splits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import sparse

from audits.flipset.counterparts.people import Comparison
from audits.progress import Progress
from audits.stats import draw_counts
from audits.transport import Coupling, exact_coupling
from audits.transport.atoms import Atoms
from audits.transport.maps import TrainingPoint

__all__ = [
    "Counterparts",
    "FlipLinks",
    "Flips",
    "GeneratedPeople",
    "Matching",
    "Sides",
    "count_flips",
    "match",
]


@dataclass(frozen=True, eq=False)
class GeneratedPeople:
    """Generated people (k): raw features, matched features encoded (k, d), scores and decisions (k,)."""

    frame: pd.DataFrame
    values: np.ndarray
    scores: np.ndarray
    decisions: np.ndarray


@dataclass(frozen=True, eq=False)
class Sides:
    """One stratum's source and target people, and their atoms: people equal in every feature.

    Attributes
    ----------
    source, target : array of int
        Positions of the stratum's people in the audited data.
    source_atom, target_atom : array of int
        Atom of each of them, into the rows of `x` and `y`.
    x, y : arrays (K, d), (L, d)
        Encoded features of the atoms.
    source_size, target_size : arrays (K,), (L,)
        People in each atom.
    """

    value: str
    source: np.ndarray
    target: np.ndarray
    source_atom: np.ndarray
    target_atom: np.ndarray
    x: np.ndarray
    y: np.ndarray
    source_size: np.ndarray
    target_size: np.ndarray

    @classmethod
    def build(cls, compared: Comparison, value: str, source: np.ndarray, target: np.ndarray) -> Sides:
        """Merge people with the same features on either side."""
        values, sizes = compared.encoded.values, compared.sizes
        (x, source_atom), (y, target_atom) = atoms(values[source]), atoms(values[target])
        source_size = np.bincount(source_atom, sizes[source], len(x))
        target_size = np.bincount(target_atom, sizes[target], len(y))
        return Sides(value, source, target, source_atom, target_atom, x, y, source_size, target_size)


@dataclass(frozen=True, eq=False)
class Matching(Sides):
    """One stratum's source and target atoms and their counterparts; attributes of `Sides`, and:

    Attributes
    ----------
    there : Counterparts
        Counterparts of the source atoms.
    back : Counterparts or None
        Counterparts of the target atoms; None where the way back was not asked for.
    cost, slack : float, float or None
        Mean cost between people and counterparts; how far it can lie above the least, where that is known.
    method : str
    curves : dict
        Training curves of the maps there and back by name, empty for maps without training.
    composition : float or None
        Mean cost between people and where they land when mapped there and back again.
    coupling : Coupling or None
        The exact coupling with its dual values.
    """

    there: Counterparts
    back: Counterparts | None
    cost: float
    slack: float | None
    method: str
    curves: dict[str, tuple[TrainingPoint, ...]] = field(default_factory=dict)
    composition: float | None = None
    coupling: Coupling | None = None

    def mean_by_source(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weighted mean per source atom (K,) of one value per source person."""
        return np.bincount(self.source_atom, weights * values, len(self.x)) / self.source_size

    def mean_by_target(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weighted mean per target atom (L,) of one value per target person."""
        return np.bincount(self.target_atom, weights * values, len(self.y)) / self.target_size


@dataclass(frozen=True, eq=False)
class Counterparts:
    """Whom the atoms of one group are compared with.

    Attributes
    ----------
    points : array (L, d)
        Encoded features of the counterparts: the other group's atoms, or invented people.
    shares : sparse array (K, L)
        Each atom's counterparts; rows sum to 1.
    found : array (K,)
        Share of each atom's people who have a counterpart, in [0, 1]: 1 but for unbalanced transport.
    weights : array (L,)
        Share of the other group's people that each of its atoms stands for when counterparts are held
        against that group; sums to 1.
    invented : GeneratedPeople or None
        The invented people; None where counterparts are real.
    """

    points: np.ndarray
    shares: sparse.csr_array
    found: np.ndarray
    weights: np.ndarray
    invented: GeneratedPeople | None = None


def atoms(encoded: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows of `encoded` (n, d), in an order of their own, and each row's index among them."""
    merged = Atoms.merge(encoded, np.ones(len(encoded)))
    return encoded[merged.first], merged.of


def draw_rows(sizes: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Row of each of `n` people drawn without replacement; a row stands for `sizes` people."""
    if (sizes == 1).all():
        rows = np.arange(len(sizes))
        return rows if len(rows) <= n else np.sort(rng.choice(rows, n, replace=False))
    whole = np.maximum(np.rint(sizes), 1)
    counts = whole.astype(np.int64) if whole.sum() <= n else draw_counts(whole, n, rng)
    return np.repeat(np.arange(len(sizes)), counts)


def match(
    compared: Comparison, value: str, source: np.ndarray, target: np.ndarray, progress: Progress
) -> Matching:
    """Match the people at positions `source` with those at `target`, of one stratum, at least total cost."""
    sides = Sides.build(compared, value, source, target)
    a, b = sides.source_size, sides.target_size
    coupling = exact_coupling(
        sides.x,
        sides.y,
        cost=compared.options.cost,
        a=a,
        b=b,
        feature_weights=compared.encoded.weights,
        progress=progress,
    )
    plan = coupling.plan
    back = sparse.csr_array(sparse.diags_array(1.0 / plan.sum(0)) @ plan.T)
    return Matching(
        **vars(sides),
        there=Counterparts(sides.y, coupling.shares(), np.ones(len(a)), b / b.sum()),
        back=Counterparts(sides.x, back, np.ones(len(b)), a / a.sum()),
        cost=coupling.cost,
        slack=coupling.slack,
        method=coupling.method,
        coupling=coupling,
    )


@dataclass(frozen=True, eq=False)
class FlipLinks:
    """Flipping mass between people and counterparts, as points, in people; and the people who carry it."""

    x: np.ndarray  # (K, d)
    points: np.ndarray  # (L, d)
    mass: sparse.coo_array  # (K, L)
    people: np.ndarray  # (K,) people of the source atom who could flip this way


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
        Share of the person's counterparts decided favorably.
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


def count_flips(compared: Comparison, matched: list[Matching]) -> Flips:
    """Count flips both ways from the couplings of all strata."""
    decisions, sizes = compared.decisions, compared.sizes
    there: list[tuple[np.ndarray, ...]] = []
    back: list[tuple[np.ndarray, ...]] = []
    positive_links, negative_links = [], []
    for part in matched:
        own = part.mean_by_source(decisions[part.source], sizes[part.source])  # (K,)
        other = _favorable_share(part.there, part.mean_by_target, decisions[part.target], sizes[part.target])
        there.append(_shares(part.there, other, part.source_atom, decisions[part.source]))
        people = part.source_size * part.there.found
        positive_links.append(_links(part, own * people, 1 - other))
        negative_links.append(_links(part, people - own * people, other))
        if part.back is not None:
            own = _favorable_share(part.back, part.mean_by_source, decisions[part.source], sizes[part.source])
            back.append(_shares(part.back, own, part.target_atom, decisions[part.target]))
    source, target = (
        np.concatenate([getattr(part, side) for part in matched]) for side in ("source", "target")
    )
    positive, negative, reach, found = map(np.concatenate, zip(*there, strict=True))
    known = len(back) == len(matched)
    others = [np.concatenate(each) for each in zip(*back, strict=True)] if known else [None, None]
    return Flips(
        source=source,
        target=target,
        positive=positive,
        negative=negative,
        reach=reach,
        found=found,
        back_positive=others[0],
        back_negative=others[1],
        positive_links=positive_links,
        negative_links=negative_links,
    )


def _shares(
    counterparts: Counterparts, favored: np.ndarray, atom: np.ndarray, decisions: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Per person (n,): positive and negative flips, share of counterparts favored, share with any."""
    # a share of counterparts is a sum of products: rounding must not leave [0, 1]
    reach, found = _clean(counterparts.shares @ favored)[atom], counterparts.found[atom]
    own = decisions.astype(float)
    return own * (1 - reach) * found, (1 - own) * reach * found, reach, found


def _favorable_share(
    counterparts: Counterparts,
    mean: Callable[[np.ndarray, np.ndarray], np.ndarray],
    decisions: np.ndarray,
    sizes: np.ndarray,
) -> np.ndarray:
    """Share (L,) of each counterpart decided favorably; real ones may be several equal people."""
    if counterparts.invented is not None:
        return counterparts.invented.decisions.astype(float)
    return mean(decisions, sizes)


def _clean(shares: np.ndarray) -> np.ndarray:
    """Shares clipped to [0, 1], those within rounding of an end set to it."""
    shares = np.where(shares < 1e-9, 0.0, shares)
    return np.where(shares > 1 - 1e-9, 1.0, shares)


def _links(part: Matching, people: np.ndarray, target_share: np.ndarray) -> FlipLinks:
    """Mass (K, L) of `people` per source atom that goes to the `target_share` of each target atom."""
    people = np.where(people < 1e-9 * part.source_size, 0.0, people)
    mass = sparse.coo_array(sparse.diags_array(people) @ part.there.shares @ sparse.diags_array(target_share))
    mass.eliminate_zeros()
    return FlipLinks(part.x, part.there.points, mass, people)
