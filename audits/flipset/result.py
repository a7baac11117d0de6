"""What a flipset audit found: plain numbers, one row a person beside them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from audits.flipset.parts import (
    CALIPER,
    AboveChance,
    Again,
    Causal,
    FlipsetPart,
    Noise,
    Reverse,
    SameValue,
    ScoreChange,
    Stratum,
    Validation,
    ranked,
)
from audits.results import Optimum, frame_of, head, plain, shown
from audits.stats import Estimate, Judged, Verdict
from audits.transport.levels import LevelDifference

__all__ = ["FlipsetResult"]


@shown
@dataclass(frozen=True, eq=False)
class FlipsetResult:
    """Result of a flipset audit.

    Attributes
    ----------
    positive, negative : FlipsetPart
        Decided favourably here but not at the counterpart; and the other way round.
    judged : Judged
        The verdict and the interval that it follows from: what the larger flipset holds above chance.
    above_chance : AboveChance or None
        That interval's parts, and the tests that have to agree; None where chance was not measured.
    net : Estimate
        Favourable share of the source minus that of the target; by Proposition 2 also the positive minus
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
        empty else. See `audits.flipset.packing`.
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
    again : Again or None
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

    options: dict[str, Any]
    source: str
    target: str
    outcome: str
    judged: Judged
    finding: str
    warnings: tuple[str, ...]
    n_source: float
    n_target: float
    rows: dict[str, Any]
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
    again: Again | None = None
    levels: tuple[LevelDifference, ...] = ()
    not_compared: tuple[str, ...] = ()
    caliper: float = CALIPER

    def __post_init__(self) -> None:
        # of runs saved before values had a unit, too
        object.__setattr__(self, "judged", replace(self.judged, unit="points"))

    @property
    def verdict(self) -> Verdict:
        """The verdict, which follows from ``judged.interval``."""
        return self.judged.verdict

    @property
    def people_needed(self) -> int | None:
        """About how many people in each group would settle insufficient evidence."""
        return self.judged.people_needed

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; the people stay in their tables."""
        values = {**plain(self), **head(self)}
        del values["judged"]
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

    def levels_frame(self) -> pd.DataFrame:
        """Return both groups' rates at every level of the features, the largest difference first."""
        return frame_of(
            sorted(self.levels, key=lambda each: -abs(each.difference.value or 0.0)),
            {
                "level": "name",
                "source people": "n_source",
                "target people": "n_target",
                "favorable in the source": "source_rate",
                "favorable in the target": "target_rate",
                ("difference", "low", "high"): "difference",
                "covered": lambda each: "yes" if each.covered and each.comparable else "no",
            },
        )

    def strata_frame(self) -> pd.DataFrame:
        """Return the flipsets within each value of the conditioning column, the largest difference first."""
        return frame_of(
            sorted(self.strata, key=lambda item: -abs(item.net.value or 0.0)),
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
        told = [item for item in self.strata if item.positive is not None]
        return tuple(item.value for item in sorted(told, key=lambda item: -abs(item.net.value or 0.0)))

    def flipset(self, part: str, within: str | None = None) -> tuple[FlipsetPart, float]:
        """Return the ``"positive"`` or ``"negative"`` flipset, and the source people it is a part of.

        Parameters
        ----------
        within : str, optional
            One of `within`; everyone by default.
        """
        if within is None:
            return (self.positive if part == "positive" else self.negative), self.n_source
        one = next(item for item in self.strata if item.value == within)
        found = one.positive if part == "positive" else one.negative
        if found is None:  # a result of an earlier version
            raise KeyError(within)
        return found, one.n_source

    def transparency_frame(
        self, part: str = "negative", within: str | None = None, *, by_sign: bool = False
    ) -> pd.DataFrame:
        """Return the transparency report of ``"positive"`` or ``"negative"``, in either of its rankings."""
        return frame_of(
            ranked(self.flipset(part, within)[0].transparency, by_sign=by_sign),
            {
                "feature": "feature",
                ("mean difference", "low", "high"): "mean_difference",
                "in standard deviations": "standardized_difference",
                ("mean sign", "sign low", "sign high"): "mean_sign",
            },
        )

    def reports_frame(self, within: str | None = None, *, by_sign: bool = False) -> pd.DataFrame:
        """Return the transparency reports of both directions as one table."""
        ways = ("negative", "positive")
        frames = {way: self.transparency_frame(way, within, by_sign=by_sign) for way in ways}
        return pd.concat(frames, names=["flipset"]).reset_index("flipset").reset_index(drop=True)

    def marginals_frame(self, part: str = "negative", within: str | None = None) -> pd.DataFrame:
        """Return the marginals of ``"positive"`` or ``"negative"`` as a table, one row a bin or value."""
        rows = []
        for item in self.flipset(part, within)[0].marginals:
            rows += [
                {
                    "feature": item.feature,
                    "value": label,
                    "people": everyone,
                    "in the flipset": inside,
                    "distance": item.distance,
                    "adjusted p": item.adjusted_p,
                }
                for label, everyone, inside in item.bars
            ]
        return pd.DataFrame(
            rows, columns=["feature", "value", "people", "in the flipset", "distance", "adjusted p"]
        )

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
        if self.causal is None:
            return pd.DataFrame(
                columns=["flipset", "by transport", "share", "by counterfactuals", "their share"]
            )
        return pd.DataFrame(
            [
                {
                    "flipset": name,
                    "by transport": ours.size,
                    "share": ours.share.value,
                    "by counterfactuals": theirs.size,
                    "their share": theirs.share.value,
                }
                for name, ours, theirs in (
                    ("positive", self.positive, self.causal.positive),
                    ("negative", self.negative, self.causal.negative),
                )
            ]
        )

    def score_change_frame(self) -> pd.DataFrame:
        """Return how the score changes at the counterpart as a table, one row a bin."""
        found = {} if self.score_change is None else self.score_change.histogram
        edges = found.get("edges", [])
        return pd.DataFrame({"from": edges[:-1], "to": edges[1:], "people": found.get("people", [])})

    def fit_frame(self) -> pd.DataFrame:
        """Return how well each feature of the counterparts fits the target group's (Tables 1 and 3)."""
        gaps = self.validation.mse_difference
        return pd.DataFrame(
            [
                {"feature": name, "KS distance": value, "difference in squared error": gaps[name]}
                for name, value in self.validation.ks.items()
            ],
            columns=["feature", "KS distance", "difference in squared error"],
        )

    def training_frame(self) -> pd.DataFrame:
        """Return the training curves as a table, one row a point; empty for maps without training."""
        return pd.DataFrame(
            list(self.training),
            columns=["map", "iteration", "critic_loss", "generator_loss", "transport_cost", "ks"],
        )

    def again_frame(self) -> pd.DataFrame:
        """Return the flipsets of every repeat as a table."""
        runs = [] if self.again is None else list(self.again.runs)
        return pd.DataFrame(runs, columns=["map", "positive", "negative", "ks"])

    def null_frame(self) -> pd.DataFrame:
        """Return the null distribution as a table, one row a bin."""
        found = {} if self.noise is None else self.noise.histogram
        edges = found.get("edges", [])
        return pd.DataFrame(
            {"from": edges[:-1], "to": edges[1:], "permutations": found.get("permutations", [])}
        )

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
