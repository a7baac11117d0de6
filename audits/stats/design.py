"""Rows that are not one independent person each: sampling weights, strata, clusters, several rows a person.

Shares are ratio means whose variance comes from Taylor linearisation over clusters within strata; their
intervals are those of Korn and Graubard, exact binomial ones on the effective number of people; differences
join two of them by the method of variance estimates recovery, with the covariance that clusters shared by
both groups make. Without weights, strata and clusters a share's interval is Clopper and Pearson's.

References
----------
Korn, Graubard (1998), Survey Methodology 24:193-201. Zou, Donner (2008), Statistics in Medicine
27:1693-1702. Woodruff (1971), Journal of the American Statistical Association 66:411-414.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv, stdtrit

from audits.errors import InputError
from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level

EFFECTIVE_SIZES = (
    "Rows are not independent people. Numbers of people are effective sizes: as many independent people "
    "as would carry the same information."
)


@dataclass(frozen=True, eq=False)
class Design:
    """How rows came into the data.

    Attributes
    ----------
    weights : float array (n,)
        Sampling weights, up to a constant; 1 where each row counts alike.
    cluster : int array (n,)
        Code of the cluster (or person) of each row, from 0; codes differ between strata.
    stratum : int array (clusters,)
        Code of each cluster's stratum, from 0.
    clustered : bool
        Whether some cluster has several rows.
    persons : bool
        Whether clusters are persons and nothing else sets rows apart: one row of each is a simple sample.
    """

    weights: np.ndarray
    cluster: np.ndarray
    stratum: np.ndarray
    clustered: bool
    persons: bool = False

    @property
    def n_clusters(self) -> int:
        """Clusters, or rows where each is its own."""
        return len(self.stratum)

    @property
    def n_strata(self) -> int:
        """Strata."""
        return int(self.stratum.max()) + 1 if len(self.stratum) else 0

    def take(self, mask: np.ndarray) -> Design:
        """Return the design of some rows; clusters without rows are kept, because a domain has them too."""
        return replace(self, weights=self.weights[mask], cluster=self.cluster[mask])

    def holding(self, members: np.ndarray) -> np.ndarray:
        """Return which clusters hold someone of `members` (n,), bool (clusters,)."""
        inside = np.zeros(self.n_clusters, dtype=bool)
        inside[self.cluster[members]] = True
        return inside

    def gathered(self, parts: np.ndarray) -> np.ndarray:
        """Return what the rows of each cluster add together (clusters,)."""
        return np.bincount(self.cluster, parts, minlength=self.n_clusters)

    def freedom(self, inside: np.ndarray) -> int:
        """Return the degrees of freedom of clusters: as many, less their strata."""
        return int(inside.sum()) - len(np.unique(self.stratum[inside]))

    def variance(self, influence: np.ndarray, inside: np.ndarray) -> float:
        """Return the variance of a linearised number over clusters, from what each adds (clusters,)."""
        return float((self.centered(influence, inside) ** 2).sum())

    def centered(self, influence: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """What clusters add beyond their stratum's mean, so that squares sum to the variance (clusters,).

        A stratum with one cluster is compared with everyone's mean.
        """
        own, values = self.stratum[inside], influence[inside]
        k = np.bincount(own)
        alone = k == 1
        mean = np.bincount(own, values) / np.maximum(k, 1)
        mean[alone] = 0.0  # the linearised values sum to 0 over everyone
        factor = np.where(alone, 1.0, k / np.maximum(k - 1, 1))
        found = np.zeros(len(influence))
        found[inside] = np.sqrt(factor[own]) * (values - mean[own])
        return found


@dataclass(frozen=True, eq=False)
class Share:
    """A share of a group under a design.

    Attributes
    ----------
    estimate : Estimate
        With Korn and Graubard's interval; its n are people of a simple random sample that would tell as much.
    people : float
        Likewise, fewer where there are few clusters behind the variance: intervals for plain counts hold for
        ``estimate.value * people`` of so many.
    """

    estimate: Estimate
    people: float


def make_design(
    n: int,
    *,
    weights: np.ndarray | None = None,
    cluster: np.ndarray | None = None,
    strata: np.ndarray | None = None,
) -> Design:
    """Return the design of `n` rows.

    Parameters
    ----------
    weights : array (n,), optional
        Sampling weights > 0.
    cluster, strata : array (n,), optional
        Any values that can be compared; a cluster's value may come again in another stratum.

    Raises
    ------
    InputError
        If weights are not positive and finite.
    """
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise InputError("data.weights", "must be positive finite numbers")
    h = np.zeros(n, dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    if cluster is None:
        return Design(weights, np.arange(n), h, False)
    c = np.unique(cluster, return_inverse=True)[1]
    both, code = np.unique(h.astype(np.int64) * (int(c.max(initial=0)) + 1) + c, return_inverse=True)
    stratum = (both // (int(c.max(initial=0)) + 1)).astype(np.int64)
    return Design(weights, code, stratum, len(both) < n)


def design_share(design: Design, members: np.ndarray, event: np.ndarray, *, level: float = 0.05) -> Share:
    """Share of a group's people with a property, under the design.

    Without strata it tells no more than rows of equal weight that would tell as much as these weights do
    (Kish 1965, section 11.7).

    Parameters
    ----------
    members, event : bool array (n,)
        Who is in the group, and who has the property.

    Examples
    --------
    >>> rows = make_design(120)
    >>> found = design_share(rows, np.ones(120, dtype=bool), np.arange(120) < 37)
    >>> [round(end, 3) for end in (found.estimate.value, found.estimate.low, found.estimate.high)]
    [0.308, 0.227, 0.4]
    >>> round(found.estimate.n)
    119
    """
    method = f"Korn–Graubard {percent_level(level)}"
    n = int(members.sum())
    total = float(design.weights[members].sum())
    if n == 0:
        return Share(Estimate(None, None, None, 0.0, method), 0.0)
    share = float(design.weights[members & event].sum()) / total
    parts = np.where(members, design.weights * (event - share) / total, 0.0)
    inside = design.holding(members)
    variance, freedom = design.variance(design.gathered(parts), inside), max(design.freedom(inside), 1)
    # without any spread nothing tells how much a row is worth: then clusters count, not their rows
    effective = min(share * (1 - share) / variance, float(n)) if variance > 0 else float(inside.sum())
    if design.n_strata == 1:  # where the events seen happen to be of light rows, the variance seems small
        effective = min(effective, total**2 / float((design.weights[members] ** 2).sum()))
    narrow, wide = stdtrit(max(n - 1, 1), 1 - level / 2), stdtrit(freedom, 1 - level / 2)
    people = effective * float(narrow / wide) ** 2
    low, high = _binomial(share, people, level)
    return Share(Estimate(share, low, high, effective, method), people)


def design_mean(design: Design, members: np.ndarray, values: np.ndarray) -> tuple[float, float, int]:
    """Return the mean of a group's values under the design, its standard error, and degrees of freedom."""
    mean, influence, freedom = mean_influence(design, members, values)
    return mean, math.sqrt(float(influence @ influence)), freedom


def mean_influence(design: Design, members: np.ndarray, values: np.ndarray) -> tuple[float, np.ndarray, int]:
    """Return the mean of a group's values, what each cluster adds to it, and degrees of freedom.

    The squares of what clusters add (clusters,) sum to the variance of the mean.
    """
    total = float(design.weights[members].sum())
    mean = float(design.weights[members] @ values[members]) / total
    parts = np.where(members, design.weights * (values - mean) / total, 0.0)
    inside = design.holding(members)
    return mean, design.centered(design.gathered(parts), inside), design.freedom(inside)


def _binomial(share: float, people: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's interval on effective people."""
    events = share * people
    low = 0.0 if events <= 0 else float(betaincinv(events, people - events + 1, level / 2))
    high = 1.0 if people - events <= 0 else float(betaincinv(events + 1, people - events, 1 - level / 2))
    return min(low, share), max(high, share)
