"""Counterparts: people of two groups matched within strata, people alike handled together."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from audits.flipset.inventing import Invented
from audits.progress import Progress
from audits.transport import Cost, Coupling, exact_coupling
from audits.transport.atoms import Atoms
from audits.transport.maps import TrainingPoint

__all__ = ["Counterparts", "Matched", "atoms", "match"]


@dataclass(frozen=True, eq=False)
class Matched:
    """One stratum's source and target atoms (people alike in every feature) and their counterparts.

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
    source: np.ndarray
    target: np.ndarray
    source_atom: np.ndarray
    target_atom: np.ndarray
    x: np.ndarray
    y: np.ndarray
    source_size: np.ndarray
    target_size: np.ndarray
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
    invented : Invented or None
        The invented people; None where counterparts are real.
    """

    points: np.ndarray
    shares: sparse.csr_array
    found: np.ndarray
    weights: np.ndarray
    invented: Invented | None = None


def atoms(encoded: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows of `encoded` (n, d), in an order of their own, and each row's index among them."""
    merged = Atoms.merge(encoded, np.ones(len(encoded)))
    return encoded[merged.first], merged.of


def match(
    value: str,
    source: np.ndarray,
    target: np.ndarray,
    encoded: np.ndarray,
    sizes: np.ndarray,
    *,
    cost: Cost,
    weights: np.ndarray,
    progress: Progress,
) -> Matched:
    """Match the people at positions `source` with those at `target` at least total cost.

    Parameters
    ----------
    encoded : array (n, d)
        Features of all audited people.
    sizes : array (n,)
        People each row stands for.
    weights : array (d,)
        Weight of each encoded feature in the cost.
    """
    x, source_atom = atoms(encoded[source])
    y, target_atom = atoms(encoded[target])
    source_size = np.bincount(source_atom, sizes[source], len(x))
    target_size = np.bincount(target_atom, sizes[target], len(y))
    coupling = exact_coupling(
        x, y, cost=cost, a=source_size, b=target_size, feature_weights=weights, progress=progress
    )
    plan = coupling.plan
    back = sparse.csr_array(sparse.diags_array(1.0 / plan.sum(0)) @ plan.T)
    return Matched(
        value=value,
        source=source,
        target=target,
        source_atom=source_atom,
        target_atom=target_atom,
        x=x,
        y=y,
        source_size=source_size,
        target_size=target_size,
        there=Counterparts(y, coupling.shares(), np.ones(len(x)), target_size / target_size.sum()),
        back=Counterparts(x, back, np.ones(len(y)), source_size / source_size.sum()),
        cost=coupling.cost,
        slack=coupling.slack,
        method=coupling.method,
        coupling=coupling,
    )
