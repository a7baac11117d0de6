"""Counterparts of everyone, and the flips that they make (Definition 1), in shares where mass splits."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import sparse

from audits.flipset.counterparts.people import Comparison
from audits.progress import Progress
from audits.transport import Coupling, exact_coupling
from audits.transport.atoms import Atoms
from audits.transport.maps import TrainingPoint


@dataclass(frozen=True, eq=False)
class GeneratedPeople:
    """Generated people (k): raw features, matched features encoded (k, d), scores and decisions (k,)."""

    frame: pd.DataFrame
    values: np.ndarray
    scores: np.ndarray
    decisions: np.ndarray


@dataclass(frozen=True, eq=False)
class Group:
    """People of one group, and their atoms: people equal in every feature.

    Attributes
    ----------
    rows : array of int (n,)
        Where they are among all people.
    of : array of int (n,)
        Atom of each of them.
    people : array (n,)
        People each row stands for.
    x : array (K, d)
        Encoded features of the atoms.
    size : array (K,)
        People in each atom.
    """

    rows: np.ndarray
    of: np.ndarray
    people: np.ndarray
    x: np.ndarray
    size: np.ndarray

    @classmethod
    def build(cls, rows: np.ndarray, points: np.ndarray, people: np.ndarray) -> Group:
        """Merge the people at `rows` who have the same features among all `points` (n, d)."""
        people = people[rows]
        merged = Atoms.merge(points[rows], people)
        return cls(rows, merged.of, people, points[rows[merged.first]], merged.weights)

    @property
    def weights(self) -> np.ndarray:
        """Share of the people in each atom, (K,)."""
        return np.asarray(self.size / self.size.sum())

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Mean of each atom (K,) of one value for each of all people."""
        return np.bincount(self.of, self.people * values[self.rows], len(self.x)) / self.size


@dataclass(frozen=True, eq=False)
class Matching:
    """One stratum's people of both groups and their counterparts.

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

    value: str
    source: Group
    target: Group
    there: Counterparts
    back: Counterparts | None
    cost: float
    slack: float | None
    method: str
    curves: dict[str, tuple[TrainingPoint, ...]] = field(default_factory=dict)
    composition: float | None = None
    coupling: Coupling | None = None


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

    def favored(self, side: Group, decisions: np.ndarray) -> np.ndarray:
        """Share (L,) of each counterpart decided favorably; a real one may be several of `side`."""
        return side.mean(decisions) if self.invented is None else self.invented.decisions.astype(float)

    def scored(self, side: Group, scores: np.ndarray) -> np.ndarray:
        """Score (L,) of each counterpart; of real ones their mean."""
        return side.mean(scores) if self.invented is None else self.invented.scores


def draw_rows(sizes: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Row of each of `n` people drawn without replacement; a row stands for `sizes` people.

    The same people whether those who are alike stand in one row or in several that follow one another.
    """
    upto = np.maximum(np.rint(sizes), 1).astype(np.int64).cumsum()
    people = np.arange(upto[-1]) if upto[-1] <= n else np.sort(rng.choice(upto[-1], n, replace=False))
    return np.searchsorted(upto, people, side="right")


def match(
    compared: Comparison, value: str, source: np.ndarray, target: np.ndarray, progress: Progress
) -> Matching:
    """Match the people at positions `source` with those at `target`, of one stratum, at least total cost."""
    ours, theirs = (Group.build(rows, compared.encoded.values, compared.sizes) for rows in (source, target))
    coupling = exact_coupling(
        ours.x,
        theirs.x,
        cost=compared.options.cost,
        a=ours.size,
        b=theirs.size,
        feature_weights=compared.encoded.weights,
        progress=progress,
    )
    plan = coupling.plan
    back = sparse.csr_array(sparse.diags_array(1.0 / plan.sum(0)) @ plan.T)
    return Matching(
        value,
        ours,
        theirs,
        there=Counterparts(theirs.x, coupling.shares(), np.ones(len(ours.x)), theirs.weights),
        back=Counterparts(ours.x, back, np.ones(len(theirs.x)), ours.weights),
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
    strata : list of slice
        Where the source people of each stratum lie.
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
    strata: list[slice]
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
    decisions = compared.decisions
    there: list[tuple[np.ndarray, ...]] = []
    back: list[tuple[np.ndarray, ...]] = []
    positive_links, negative_links = [], []
    for part in matched:
        own, other = part.source.mean(decisions), part.there.favored(part.target, decisions)
        there.append(_shares(part.there, other, part.source, decisions))
        people = part.source.size * part.there.found
        positive_links.append(_links(part, own * people, 1 - other))
        negative_links.append(_links(part, people - own * people, other))
        if part.back is not None:
            reached = part.back.favored(part.source, decisions)
            back.append(_shares(part.back, reached, part.target, decisions))
    source, target = (
        np.concatenate([getattr(part, side).rows for part in matched]) for side in ("source", "target")
    )
    ends = np.cumsum([0, *(len(part.source.rows) for part in matched)]).tolist()
    positive, negative, reach, found = map(np.concatenate, zip(*there, strict=True))
    known = len(back) == len(matched)
    others = [np.concatenate(each) for each in zip(*back, strict=True)] if known else [None, None]
    return Flips(
        source=source,
        target=target,
        strata=[slice(start, stop) for start, stop in itertools.pairwise(ends)],
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
    counterparts: Counterparts, favored: np.ndarray, side: Group, decisions: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Per person (n,): positive and negative flips, share of counterparts favored, share with any."""
    reach, found = clean(counterparts.shares @ favored)[side.of], counterparts.found[side.of]
    own = decisions[side.rows].astype(float)
    return own * (1 - reach) * found, (1 - own) * reach * found, reach, found


def clean(shares: np.ndarray) -> np.ndarray:
    """Return shares, sums of products, within [0, 1]; those within rounding of an end are set to it."""
    shares = np.where(shares < 1e-9, 0.0, shares)
    return np.where(shares > 1 - 1e-9, 1.0, shares)


def _links(part: Matching, people: np.ndarray, target_share: np.ndarray) -> FlipLinks:
    """Mass (K, L) of `people` per source atom that goes to the `target_share` of each target atom."""
    people = np.where(people < 1e-9 * part.source.size, 0.0, people)
    mass = sparse.coo_array(sparse.diags_array(people) @ part.there.shares @ sparse.diags_array(target_share))
    mass.eliminate_zeros()
    return FlipLinks(part.source.x, part.there.points, mass, people)
