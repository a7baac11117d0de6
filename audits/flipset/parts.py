"""The pieces of a flipset result: plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

from audits.stats import Estimate

__all__ = [
    "Causal",
    "FeatureDifference",
    "FlipsetPart",
    "Marginal",
    "Noise",
    "Reverse",
    "SameValue",
    "Stratum",
]


@dataclass(frozen=True)
class FeatureDifference:
    """How flipped people differ from their counterparts in one feature (Definition 2).

    Attributes
    ----------
    feature : str
        Column, or ``column=value`` for one value of a categorical column (then differences are of shares).
    mean_difference : Estimate
        Person minus counterpart, in the feature's own unit; above 0: the flipped people have more of it.
    mean_sign : Estimate
        Share of flips in which the person has more, minus the share in which the person has less.
    standardized_difference : float
        `mean_difference` in standard deviations of the audited people; the report is sorted by its size.
    deviation : float
        That standard deviation, in the feature's own unit; 0 for a constant feature.
    """

    feature: str
    column: str
    mean_difference: Estimate
    mean_sign: Estimate
    standardized_difference: float
    deviation: float


@dataclass(frozen=True)
class Marginal:
    """One feature's distribution in a flipset beside that of all source people.

    Attributes
    ----------
    edges : tuple of float, optional
        Bin edges of a numeric feature; values beyond the first and last edge are counted in the end bins.
    categories : tuple of str, optional
        Values of a categorical feature.
    population, flipset : tuple of float
        People per bin or value.
    distance : float
        Largest gap of the two cumulative distributions over the bins (numeric), or half the summed
        difference of shares (categorical), in [0, 1].
    adjusted_p : float or None
        Holm-adjusted chance that as many people drawn at random differ as much; None for an empty flipset.
    """

    feature: str
    edges: tuple[float, ...] | None
    categories: tuple[str, ...] | None
    population: tuple[float, ...]
    flipset: tuple[float, ...]
    distance: float
    adjusted_p: float | None


@dataclass(frozen=True)
class FlipsetPart:
    """One flipset: `size` in people (fractional where counterparts disagree), and who is in it."""

    size: float
    share: Estimate
    expected_by_chance: Estimate | None
    transparency: tuple[FeatureDifference, ...]
    marginals: tuple[Marginal, ...]


@dataclass(frozen=True)
class Causal:
    """Flipsets of the true counterfactuals, and the share of people of whom transport says the same."""

    positive: FlipsetPart
    negative: FlipsetPart
    agreement: Estimate


@dataclass(frozen=True)
class Noise:
    """Flips when groups do not differ: group membership permuted, people matched again.

    `observed` and `null` are the larger of the two flip shares, both on the same subsample of
    `n_source` and `n_target` people, with counterparts found by `method`; `p_value` cannot fall below
    1 / (`permutations` + 1).
    """

    permutations: int
    n_source: int
    n_target: int
    observed: float
    null_quantiles: dict[str, float]
    p_value: float
    method: str = "matched exactly"


@dataclass(frozen=True)
class Stratum:
    """The part of the audit within one value of the conditioning column."""

    value: str
    n_source: float
    n_target: float
    positive_size: float
    negative_size: float
    net: Estimate
    cost: float
    slack: float | None


@dataclass(frozen=True)
class SameValue:
    """The groups' rates compared among people who agree in one feature (section 5.5).

    `difference` is the source's favourable share minus the target's, 0 where people with the same value are
    decided alike; `coverage` the share of source people whose value occurs in both groups; `values` how
    many values (or ranges) do.
    """

    feature: str
    difference: Estimate
    coverage: float
    values: int


@dataclass(frozen=True)
class Reverse:
    """Flips of the target group's people towards the source."""

    n: float
    positive: Estimate
    negative: Estimate
    positive_size: float
    negative_size: float
