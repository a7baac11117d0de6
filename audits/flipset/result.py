"""What a flipset audit found: plain numbers, one row a person beside them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import pandas as pd

from audits.data.values import MISSING
from audits.results import Optimum, frame_of
from audits.stats import Estimate, RowsResult
from audits.transport.levels import LevelDifference, date_text

Way = Literal["positive", "negative"]
WAYS: tuple[Way, Way] = ("positive", "negative")


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


REPORT_COLUMNS: dict[Any, str] = {
    "feature": "feature",
    ("mean difference", "low", "high"): "mean_difference",
    "in standard deviations": "standardized_difference",
    ("mean sign", "sign low", "sign high"): "mean_sign",
}


Line = TypeVar("Line", bound=FeatureDifference)


def rank_lines(report: Sequence[Line], *, by_sign: bool = False) -> list[Line]:
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
    dates : bool
        Whether the edges are dates: years with fractions.
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
    dates: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """Value or range of each bar; missing ones come last."""
        word = date_text if self.dates else "{:g}".format
        ranges = (f"{word(low)} to {word(high)}" for low, high in itertools.pairwise(self.edges or ()))
        return (*(self.categories or ranges), *(() if self.missing is None else (MISSING,)))

    @property
    def bars(self) -> tuple[tuple[str, float, float], ...]:
        """Each bar: its label, everyone in it, and those of the flipset."""
        last = ((), ()) if self.missing is None else tuple((each,) for each in self.missing)
        return tuple(zip(self.labels, (*self.population, *last[0]), (*self.flipset, *last[1]), strict=True))

    @property
    def joined(self) -> Marginal:
        """The same with neighboring bars of a numeric feature joined, so that there are at most 12."""
        each = 1 if self.edges is None else -(-(len(self.edges) - 1) // _MAX_JOINED)
        if self.edges is None or each == 1:
            return self
        starts = range(0, len(self.population), each)
        population, flipset = (
            tuple(sum(counts[start : start + each]) for start in starts)
            for counts in (self.population, self.flipset)
        )
        edges = (*(self.edges[start] for start in starts), self.edges[-1])
        return replace(self, edges=edges, population=population, flipset=flipset)


def bars_frame(marginals: Sequence[Marginal], inside: str = "in the flipset") -> pd.DataFrame:
    """Return marginals as a table, one row a bin or value; `inside` heads the people of the flipset."""
    rows = [(item.feature, *bar, item.distance, item.adjusted_p) for item in marginals for bar in item.bars]
    return pd.DataFrame(rows, columns=["feature", "value", "people", inside, "distance", "adjusted p"])


_MAX_JOINED = 12
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
    """One thing that a map's counterparts were compared with: it passes with a value of at most `limit`."""

    check: str
    value: float
    limit: float
    passed: bool
    serious: bool
    trouble: str


@dataclass(frozen=True)
class CounterpartRate:
    """Favorable rate of a group's counterparts beside that of the group itself."""

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
        the others, on counterparts minus on target people, in standardized units.
    distance, exact_distance : float
        Mean cost, and that of exact matching (for a map, of at most 2,000 people a group).
    composition_error : float or None
        Mean cost between people and where they land when mapped there and back, where that was fitted.
    forward, reverse : dict or None
        Shares of the flipsets that Appendix D holds against each other.
    checks : tuple of Check
        What a map was compared with; none for exact transport, whose proof is its certificate.
    trusted : bool
        Whether no serious check failed.
    rates : tuple of PushedRate
        Favorable rates of counterparts and of their group; alike for an exact coupling (Proposition 2).
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
    rates: tuple[CounterpartRate, ...] = ()


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
    """Are people with the same features decided alike, whatever their group?

    Attributes
    ----------
    share : Estimate or None
        At least so many people are decided otherwise than people with the same features of the other group.
    p_value : float or None
        Chance of so large a difference between people with the same features if decisions depended on their
        features alone; None where the model can read nothing else, and where it was not tested.
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
        Whether people with the same features are decided alike.
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
class Stability:
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
        People of `people` who flip in at least 90%, and in at most 10%, of the repeats they took part in.
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

    `net` is the source's favorable share minus the target's within it, by Proposition 2 also the positive
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

    `difference` is the source's favorable share minus the target's, 0 where people with the same value are
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


@dataclass(frozen=True, eq=False)
class FlipsetResult(RowsResult):
    """Result of a flipset audit.

    Attributes
    ----------
    positive, negative : FlipsetPart
        Decided favorably here but not at the counterpart; and the other way round.
    judged : Judgment
        The verdict and the interval that it follows from: what the larger flipset holds above chance.
    above_chance : AboveChance or None
        That interval's parts, and the tests that have to agree; None where chance was not measured.
    net : Estimate
        Favorable share of the source minus that of the target; by Proposition 2 also the positive minus
        the negative flipset, as shares of the source. 0 means demographic parity.
    people : DataFrame, indexed by the user's row number
        One row a source person: decision, score, flip shares, atom, nearest counterpart, distance.
    counterparts : DataFrame, indexed by the user's row number
        One row a target person: decision, score, atom.
    links : DataFrame
        Share of each target atom among the counterparts of each source atom; people of an atom are alike
        in every feature matched on. Where counterparts are invented, ``target_atom`` is a row of `invented`.
    invented : DataFrame
        Features of the invented counterpart of each source atom; empty where counterparts are real people.
    arrows, boundary : DataFrame
        With two numeric features: some people and their main counterparts, and the decisions on a grid;
        empty else. See `audits.flipset.people_tables`.
    features : tuple of str
        The features matched on.
    same_values : tuple of SameValue
        The groups compared at equal values of one feature, FairTest's question; `disagreement` says where
        it is answered otherwise than the flipsets', and why.
    causal : Causal or None
        The same flipsets from true counterfactuals, where the data hold them.
    tie_range : tuple of float, or None
        Smallest and largest positive flipset, in people, over all couplings of least cost; the negative one
        moves along. None for maps, and where there are too many pairs to look into.
    classes : DataFrame
        For models of three classes or more: people by their own class and the counterparts'; empty else.
    training : tuple of dict
        Training curves of the maps there and back: map, iteration, losses, transport cost, KS distance.
    again : Stability or None
        Who still flips when people are matched again; None where that was not asked for.
    unmatched : Estimate or None
        Share of source people whom unbalanced transport leaves without a counterpart: they cannot flip.
    levels : tuple of LevelDifference
        Both groups' rates at every level of the features matched on.
    not_compared : tuple of str
        Groups by the same attributes that are in neither, with their share of all people.
    caliper : float
        Standard deviations of a number within which a counterpart is called similar.
    """

    source: str
    target: str
    outcome: str
    n_source: float
    n_target: float
    positive: FlipsetPart
    negative: FlipsetPart
    net: Estimate
    source_rate: Estimate
    target_rate: Estimate
    noise: Noise | None
    strata: tuple[Stratum, ...]
    reverse: Reverse | None
    validation: Validation
    certificate: Optimum
    people: pd.DataFrame
    counterparts: pd.DataFrame
    links: pd.DataFrame
    invented: pd.DataFrame = field(default_factory=pd.DataFrame)
    arrows: pd.DataFrame = field(default_factory=pd.DataFrame)
    boundary: pd.DataFrame = field(default_factory=pd.DataFrame)
    classes: pd.DataFrame = field(default_factory=pd.DataFrame)
    features: tuple[str, ...] = ()
    same_values: tuple[SameValue, ...] = ()
    disagreement: str | None = None
    score_change: ScoreChange | None = None
    causal: Causal | None = None
    tie_range: tuple[float, float] | None = None
    training: tuple[dict[str, str | float | None], ...] = ()
    unmatched: Estimate | None = None
    above_chance: AboveChance | None = None
    again: Stability | None = None
    levels: tuple[LevelDifference, ...] = ()
    not_compared: tuple[str, ...] = ()
    caliper: float = CALIPER

    def __post_init__(self) -> None:
        # of runs saved before values had a unit, too
        object.__setattr__(self, "judged", replace(self.judged, unit="points"))

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; the people stay in their tables."""
        values = super().to_json()
        parts = {name: values[name] for name in ("positive", "negative")}
        values["transparency"] = {name: part.pop("transparency") for name, part in parts.items()}
        values["marginals"] = {name: part.pop("marginals") for name, part in parts.items()}
        if self.reverse is not None:
            values["reverse"] = {
                "n": self.reverse.n,
                "positive": {"size": self.reverse.positive_size, "share": values["reverse"]["positive"]},
                "negative": {"size": self.reverse.negative_size, "share": values["reverse"]["negative"]},
            }
        return values

    def looks(self) -> list[tuple[str, Estimate, float | None]]:
        """Return all that the verdict looks at, with its p-value: what decides first, then the largest."""
        if self.above_chance is None:
            return []
        alike = self.above_chance.conditional
        p = None if self.noise is None else self.noise.p_value
        found: list[tuple[str, Estimate, float | None]] = [
            ("larger direction above chance", self.above_chance.excess, p)
        ]
        if alike.share is not None and alike.p_value is not None:
            found.append(("same features, another answer", alike.share, alike.p_value))
        found += [
            (f"level: {each.name}", each.difference, alike.by_level.get(each.name))
            for each in self.levels
            if each.covered
        ]
        decides = self.judged.interval
        return sorted(found, key=lambda look: (look[1] != decides, -abs(look[1].value or 0.0)))

    def above_chance_frame(self) -> pd.DataFrame:
        """Return `looks` as a table."""
        return pd.DataFrame(
            [
                (what, found.value, found.low, found.high, p, k == 0, found.method)
                for k, (what, found, p) in enumerate(self.looks())
            ],
            columns=["what", "value", "low", "high", "p", "verdict rests on it", "method"],
        )

    @property
    def ranked_strata(self) -> list[Stratum]:
        """The strata, the largest difference of rates first."""
        return sorted(self.strata, key=lambda item: -abs(item.net.value or 0.0))

    def strata_frame(self) -> pd.DataFrame:
        """Return the flipsets within each value of the conditioning column, the largest difference first."""
        return frame_of(
            self.ranked_strata,
            {
                "within": "value",
                "source people": "n_source",
                "target people": "n_target",
                "positive flipset": lambda item: item.positive_size / item.n_source,
                "negative flipset": lambda item: item.negative_size / item.n_source,
                ("difference of rates", "low", "high"): "net",
                "adjusted p": "adjusted_p",
            },
        )

    @property
    def within(self) -> tuple[str, ...]:
        """The strata whose flipsets are described on their own, the largest difference of rates first."""
        return tuple(item.value for item in self.ranked_strata if item.positive is not None)

    def flipset(self, part: str, within: str | None = None) -> tuple[FlipsetPart, float]:
        """Return the ``"positive"`` or ``"negative"`` flipset, and the source people it is a part of.

        Parameters
        ----------
        within : str, optional
            One of `within`; everyone by default.
        """
        if within is None:
            return getattr(self, part), self.n_source
        one = next(item for item in self.strata if item.value == within)
        found: FlipsetPart | None = getattr(one, part)
        if found is None:  # a result of an earlier version
            raise KeyError(within)
        return found, one.n_source

    def transparency_frame(
        self, part: str = "negative", within: str | None = None, *, by_sign: bool = False
    ) -> pd.DataFrame:
        """Return the transparency report of ``"positive"`` or ``"negative"``, in either of its rankings."""
        return frame_of(
            rank_lines(self.flipset(part, within)[0].transparency, by_sign=by_sign),
            REPORT_COLUMNS,
        )

    def reports_frame(self, within: str | None = None, *, by_sign: bool = False) -> pd.DataFrame:
        """Return the transparency reports of both directions as one table."""
        ways = ("negative", "positive")
        frames = {way: self.transparency_frame(way, within, by_sign=by_sign) for way in ways}
        return pd.concat(frames, names=["flipset"]).reset_index("flipset").reset_index(drop=True)

    def marginals_frame(self, part: str = "negative", within: str | None = None) -> pd.DataFrame:
        """Return the marginals of ``"positive"`` or ``"negative"`` as a table, one row a bin or value."""
        return bars_frame(self.flipset(part, within)[0].marginals)

    def validation_frame(self) -> pd.DataFrame:
        """Return the checks of the counterparts as a table, one row a check; empty for exact transport."""
        return frame_of(
            self.validation.checks,
            {
                "check": "check",
                "value": "value",
                "at most": "limit",
                "passed": lambda item: "yes" if item.passed else "no",
            },
        )

    def same_values_frame(self) -> pd.DataFrame:
        """Return the comparison at equal values as a table, one row a feature."""
        return frame_of(
            self.same_values,
            {
                "agreeing in": "feature",
                ("difference", "low", "high"): "difference",
                "people covered": "coverage",
            },
        )

    def causal_frame(self) -> pd.DataFrame:
        """Return the flipsets of transport beside those of the true counterfactuals, in people and shares."""
        pairs = [(way, getattr(self, way), getattr(self.causal, way)) for way in WAYS if self.causal]
        rows = [
            (way, ours.size, ours.share.value, theirs.size, theirs.share.value) for way, ours, theirs in pairs
        ]
        columns = ["flipset", "by transport", "share", "by counterfactuals", "their share"]
        return pd.DataFrame(rows, columns=columns)

    def score_change_frame(self) -> pd.DataFrame:
        """Return how the score changes at the counterpart as a table, one row a bin."""
        return _bins_frame({} if self.score_change is None else self.score_change.histogram, "people")

    def fit_frame(self) -> pd.DataFrame:
        """Return how well each feature of the counterparts fits the target group's (Tables 1 and 3)."""
        gaps = self.validation.mse_difference
        rows = [(name, value, gaps[name]) for name, value in self.validation.ks.items()]
        return pd.DataFrame(rows, columns=["feature", "KS distance", "difference in squared error"])

    def training_frame(self) -> pd.DataFrame:
        """Return the training curves as a table, one row a point; empty for maps without training."""
        columns = ["map", "iteration", "critic_loss", "generator_loss", "transport_cost", "ks"]
        return pd.DataFrame(list(self.training), columns=columns)

    def again_frame(self) -> pd.DataFrame:
        """Return the flipsets of every repeat as a table."""
        runs = [] if self.again is None else list(self.again.runs)
        return pd.DataFrame(runs, columns=["map", "positive", "negative", "ks"])

    def null_frame(self) -> pd.DataFrame:
        """Return the null distribution as a table, one row a bin."""
        return _bins_frame({} if self.noise is None else self.noise.histogram, "permutations")

    def blocks_frame(self) -> pd.DataFrame:
        """Return the interval that decides, and below it both flipsets' sizes and shares."""
        interval = self.judged.interval
        ends = {"value": interval.value, "low": interval.low, "high": interval.high}
        decides = pd.DataFrame([{"flipset": self.judged.decided_by, **ends}])
        return pd.concat([decides, self.to_frame()], ignore_index=True)

    def to_frame(self) -> pd.DataFrame:
        """Return both flipsets' sizes and shares as a table."""
        table = frame_of(
            (self.positive, self.negative),
            {
                "people": "size",
                ("share", "low", "high"): "share",
                "expected by chance": "expected_by_chance.value",
            },
        )
        table.insert(0, "flipset", ["positive", "negative"])
        table.insert(2, "of", self.n_source)
        return table


def _bins_frame(histogram: dict[str, list[float]], counted: str) -> pd.DataFrame:
    edges = histogram.get("edges", [])
    return pd.DataFrame({"from": edges[:-1], "to": edges[1:], counted: histogram.get(counted, [])})
