"""What a flipset audit found: plain numbers, one row a person beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from audits.flipset.parts import Causal, FlipsetPart, Noise, Reverse, SameValue, Stratum
from audits.results import plain, shown
from audits.stats import Estimate, Verdict

__all__ = ["FlipsetResult"]


@shown
@dataclass(frozen=True, eq=False)
class FlipsetResult:
    """Result of a flipset audit.

    Attributes
    ----------
    positive, negative : FlipsetPart
        Decided favourably here but not at the counterpart; and the other way round.
    net : Estimate
        Favourable share of the source minus that of the target; by Proposition 2 also the positive minus
        the negative flipset, as shares of the source. 0 means demographic parity.
    validation : dict
        ``ks`` and ``mse_difference`` per feature between target people and counterparts (0 for an exact
        coupling), mean ``distance`` and the ``exact_distance`` it is held against; for a map also the
        ``checks`` that it passed or failed and whether it can be ``trusted``: see `validate`.
    certificate : dict
        ``cost``; ``slack``, the proof of optimality (cost can lie at most this far above the optimum), None
        for a map, which has none; method.
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
        empty else. See `audits.flipset.scene`.
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
    score_change : dict
        How the score changes at the counterpart: mean, quantiles, histogram, people.
    classes : DataFrame
        For models of three classes or more: people by their own class and the counterparts'; empty else.
    training : tuple of dict
        Training curves of the maps there and back: map, iteration, losses, transport cost, KS distance.
    unmatched : Estimate or None
        Share of source people whom unbalanced transport leaves without a counterpart: they cannot flip.
    """

    options: dict[str, Any]
    source: str
    target: str
    outcome: str
    verdict: Verdict
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
    people_needed: int | None
    noise: Noise | None
    strata: tuple[Stratum, ...]
    reverse: Reverse | None
    validation: dict[str, Any]
    certificate: dict[str, Any]
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
    score_change: dict[str, Any] | None = None
    causal: Causal | None = None
    tie_range: tuple[float, float] | None = None
    training: tuple[dict[str, str | float | None], ...] = ()
    unmatched: Estimate | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; the people stay in their tables."""
        values = plain(self)
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

    def transparency_frame(self, part: str = "negative") -> pd.DataFrame:
        """Return the transparency report of ``"positive"`` or ``"negative"`` as a table."""
        report = (self.positive if part == "positive" else self.negative).transparency
        return pd.DataFrame(
            [
                {
                    "feature": item.feature,
                    "mean difference": item.mean_difference.value,
                    "low": item.mean_difference.low,
                    "high": item.mean_difference.high,
                    "in standard deviations": item.standardized_difference,
                    "mean sign": item.mean_sign.value,
                    "sign low": item.mean_sign.low,
                    "sign high": item.mean_sign.high,
                }
                for item in report
            ],
            columns=[
                "feature",
                "mean difference",
                "low",
                "high",
                "in standard deviations",
                "mean sign",
                "sign low",
                "sign high",
            ],
        )

    def marginals_frame(self, part: str = "negative") -> pd.DataFrame:
        """Return the marginals of ``"positive"`` or ``"negative"`` as a table, one row a bin or value."""
        rows = []
        for item in (self.positive if part == "positive" else self.negative).marginals:
            labels = item.categories or tuple(
                f"{low:g} to {high:g}"
                for low, high in zip(item.edges or (), (item.edges or ())[1:], strict=False)
            )
            rows += [
                {
                    "feature": item.feature,
                    "value": label,
                    "people": everyone,
                    "in the flipset": inside,
                    "distance": item.distance,
                    "adjusted p": item.adjusted_p,
                }
                for label, everyone, inside in zip(labels, item.population, item.flipset, strict=True)
            ]
        return pd.DataFrame(
            rows, columns=["feature", "value", "people", "in the flipset", "distance", "adjusted p"]
        )

    def validation_frame(self) -> pd.DataFrame:
        """Return the checks of the counterparts as a table, one row a check; empty for exact transport."""
        return pd.DataFrame(
            [
                {
                    "check": item["check"],
                    "value": item["value"],
                    "at most": item["limit"],
                    "passed": "yes" if item["passed"] else "no",
                }
                for item in self.validation["checks"]
            ],
            columns=["check", "value", "at most", "passed"],
        )

    def same_values_frame(self) -> pd.DataFrame:
        """Return the comparison at equal values as a table, one row a feature."""
        return pd.DataFrame(
            [
                {
                    "agreeing in": item.feature,
                    "difference": item.difference.value,
                    "low": item.difference.low,
                    "high": item.difference.high,
                    "people covered": item.coverage,
                }
                for item in self.same_values
            ],
            columns=["agreeing in", "difference", "low", "high", "people covered"],
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
        found = (self.score_change or {}).get("histogram", {"edges": [], "people": []})
        edges = found["edges"]
        return pd.DataFrame({"from": edges[:-1], "to": edges[1:], "people": found["people"]})

    def fit_frame(self) -> pd.DataFrame:
        """Return how well each feature of the counterparts fits the target group's (Tables 1 and 3)."""
        gaps = self.validation["mse_difference"]
        return pd.DataFrame(
            [
                {"feature": name, "KS distance": value, "difference in squared error": gaps[name]}
                for name, value in self.validation["ks"].items()
            ],
            columns=["feature", "KS distance", "difference in squared error"],
        )

    def training_frame(self) -> pd.DataFrame:
        """Return the training curves as a table, one row a point; empty for maps without training."""
        return pd.DataFrame(
            list(self.training),
            columns=["map", "iteration", "critic_loss", "generator_loss", "transport_cost", "ks"],
        )

    def to_frame(self) -> pd.DataFrame:
        """Return both flipsets' sizes and shares as a table."""
        rows = []
        for name, part in (("positive", self.positive), ("negative", self.negative)):
            chance = part.expected_by_chance
            rows.append(
                {
                    "flipset": name,
                    "people": part.size,
                    "of": self.n_source,
                    "share": part.share.value,
                    "low": part.share.low,
                    "high": part.share.high,
                    "expected by chance": None if chance is None else chance.value,
                }
            )
        return pd.DataFrame(rows)
