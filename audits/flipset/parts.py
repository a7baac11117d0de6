"""What a flipset audit finds, part by part: flipsets and who is in them, chance, checks, comparisons."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from audits.data.values import MISSING
from audits.stats import Estimate

__all__ = [
    "CALIPER",
    "LIKE_FOR_LIKE",
    "SIMILAR",
    "AboveChance",
    "Again",
    "Causal",
    "Check",
    "Conditional",
    "FeatureDifference",
    "FlipsetPart",
    "Marginal",
    "Noise",
    "PushedRate",
    "Reverse",
    "SameValue",
    "ScoreChange",
    "Stratum",
    "Validation",
    "ranked",
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


def ranked(report: Sequence[FeatureDifference], *, by_sign: bool = False) -> list[FeatureDifference]:
    """Return a transparency report in one of Definition 2's two rankings: how far, or how consistently."""
    if not by_sign:
        return list(report)
    return sorted(report, key=lambda item: (-abs(item.mean_sign.value or 0.0), item.feature))


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
    missing : tuple of float, optional
        Everyone, and the people of the flipset, in whom a numeric feature is missing; None where nobody's is.
    distance : float
        Largest gap of the two cumulative distributions over the bins (numeric; missing ones are a last bin),
        or half the summed difference of shares (categorical), in [0, 1].
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
    missing: tuple[float, float] | None = None

    @property
    def bars(self) -> tuple[tuple[str, float, float], ...]:
        """Each bar: its value or range, everyone in it, and those of the flipset; missing ones come last."""
        labels = self.categories or tuple(
            f"{low:g} to {high:g}" for low, high in itertools.pairwise(self.edges or ())
        )
        last = () if self.missing is None else ((MISSING, *self.missing),)
        return (*zip(labels, self.population, self.flipset, strict=True), *last)


LIKE_FOR_LIKE = "like for like"
"""What decides where people with the same features are decided differently."""
CALIPER = 0.5
"""Standard deviations of a number within which a counterpart is called similar; categories have to agree."""
SIMILAR = 0.9
"""Share of a flipset's pairs within the caliper from which its counterparts are called similar."""


@dataclass(frozen=True)
class FlipsetPart:
    """One flipset: `size` in people (fractional where counterparts disagree), and who is in it.

    `within_caliper` is the share of its pairs of person and counterpart that are similar in every feature,
    `differs_in` names the features in which at least a tenth are not, the most frequent first.
    """

    size: float
    share: Estimate
    expected_by_chance: Estimate | None
    transparency: tuple[FeatureDifference, ...]
    marginals: tuple[Marginal, ...]
    within_caliper: float | None = None
    differs_in: tuple[str, ...] = ()

    @property
    def similar(self) -> bool:
        """Whether its counterparts may be called similar."""
        return self.within_caliper is not None and self.within_caliper >= SIMILAR


@dataclass(frozen=True)
class Check:
    """One thing that a map's counterparts were held against: it passes with a value of at most `limit`."""

    check: str
    value: float
    limit: float
    passed: bool
    serious: bool
    trouble: str


@dataclass(frozen=True)
class PushedRate:
    """Favourable rate of a group's counterparts beside that of the group itself."""

    name: str
    counterparts: float
    group: float


@dataclass(frozen=True)
class Validation:
    """Target people beside the counterparts that source people got.

    Attributes
    ----------
    ks : dict
        Per feature the largest gap of the two cumulative distributions, in [0, 1]; 0 for an exact coupling.
    mse_difference : dict
        Per feature, mean squared error of a linear model of the target group, which predicts the feature from
        the others, on counterparts minus on target people, in standardised units.
    distance, exact_distance : float
        Mean cost, and that of exact matching (for a map, of at most 2,000 people a group).
    composition_error : float or None
        Mean cost between people and where they land when mapped there and back, where that was fitted.
    forward, reverse : dict or None
        Shares of the flipsets that Appendix D holds against each other.
    checks : tuple of Check
        What a map was held against; none for exact transport, whose proof is its certificate.
    trusted : bool
        Whether no serious check failed.
    rates : tuple of PushedRate
        Favourable rates of counterparts and of their group; alike for an exact coupling (Proposition 2).
    """

    ks: dict[str, float]
    mse_difference: dict[str, float]
    distance: float
    exact_distance: float
    composition_error: float | None
    forward: dict[str, float] | None
    reverse: dict[str, float] | None
    checks: tuple[Check, ...] = ()
    trusted: bool = True
    rates: tuple[PushedRate, ...] = ()


@dataclass(frozen=True)
class ScoreChange:
    """How the score changes from person to counterpart: above 0 counterparts score better.

    `quantiles` are over people and counterparts; `histogram` has ``edges`` of bins and ``people`` in each.
    """

    mean: float
    quantiles: dict[str, float]
    n: float
    histogram: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Conditional:
    """Are people alike in the features decided alike, whatever their group?

    Attributes
    ----------
    share : Estimate or None
        At least so many people are decided otherwise than people alike of the other group.
    p_value : float or None
        Chance of so large a difference between people alike if decisions depended on their features alone;
        None where the model can read nothing else, and where it was not tested.
    power : float or None
        Share of material differences planted in these very people (as many decisions turned either way)
        that the test sees.
    n : float
        People behind it.
    method : str
        What was done, or why nothing had to be.
    by_level : dict
        The same test's p-value within each level that is covered, corrected for all of them.
    """

    share: Estimate | None
    p_value: float | None
    power: float | None
    n: float
    method: str
    by_level: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class AboveChance:
    """What the larger flipset holds above chance, as a share of the source people.

    Attributes
    ----------
    excess : Estimate
        Share observed minus the mean share when membership is permuted, both among as many people.
    observed, expected : float
        Those two.
    planted : float
        What a material difference, planted in these very people, comes out as above chance.
    net_p : float
        Of the test for equal rates of the two groups.
    features_p : float
        Of the test that every feature is distributed alike in both groups.
    feature : str
        The feature that differs most surely.
    conditional : Conditional
        Whether people alike in the features are decided alike.
    """

    excess: Estimate
    observed: float
    expected: float
    planted: float
    net_p: float
    conditional: Conditional
    features_p: float = 1.0
    feature: str = ""


@dataclass(frozen=True)
class Again:
    """How flipsets spread when people are matched again.

    Attributes
    ----------
    halves : bool
        Whether each repeat drew half of each group; otherwise seed and map alone differ.
    positive, negative : Estimate
        Mean share of source people over the repeats, and the middle 90% of it: no confidence interval.
    ks : Estimate
        Likewise of the largest KS distance of a feature.
    nearly_always, nearly_never : float
        People of `people` who flip in at least 90 %, and in at most 10%, of the repeats they took part in.
    histogram : dict
        ``edges`` of shares of repeats, and ``people`` in each.
    runs : tuple of dict
        One a repeat: map, positive, negative, ks.
    """

    repeats: int
    maps: tuple[str, ...]
    halves: bool
    positive: Estimate
    negative: Estimate
    ks: Estimate
    nearly_always: float
    nearly_never: float
    people: float
    histogram: dict[str, list[float]]
    runs: tuple[dict[str, str | float], ...]


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
    1 / (`permutations` + 1). `histogram` of the null distribution has ``edges`` of shares, and how many
    ``permutations`` lie in each bin; empty in results of earlier versions.
    """

    permutations: int
    n_source: int
    n_target: int
    observed: float
    null_quantiles: dict[str, float]
    p_value: float
    method: str = "matched exactly"
    histogram: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Stratum:
    """The part of the audit within one value of the conditioning column.

    `net` is the source's favourable share minus the target's within it, by Proposition 2 also the positive
    minus the negative flipset; `adjusted_p` of equal rates in it, Holm-adjusted over the strata. `positive`
    and `negative` describe its flipsets as those of the whole are described (Figures 10 and 11), at the level
    divided by the number of strata; None where there is but one.
    """

    value: str
    n_source: float
    n_target: float
    positive_size: float
    negative_size: float
    net: Estimate
    cost: float
    slack: float | None
    adjusted_p: float | None = None
    positive: FlipsetPart | None = None
    negative: FlipsetPart | None = None


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
