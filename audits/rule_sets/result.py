"""What a rule-set audit found: plain numbers, with the table of all rule sets and the people beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from audits.results import frame_of
from audits.rule_sets.perturbation.terms import TermExchange
from audits.stats import Estimate, Judgment, RowsResult, Verdict

DECIDED_BY = "group: "


@dataclass(frozen=True)
class SampledScore:
    """A rule set's score on perturbed people (Algorithm 2).

    Attributes
    ----------
    score : Estimate
        With Newcombe's interval for this rule set alone.
    margin : float
        The paper's conservative margin: both sides' margins together.
    confidence : float
        The paper's confidence of that margin, the product of the two sides'.
    """

    score: Estimate
    favorable_in: float
    favorable_out: float
    margin: float
    confidence: float


@dataclass(frozen=True)
class Contribution:
    """What one condition of a rule set adds to its difference from everyone else."""

    condition: str
    value: float


@dataclass(frozen=True)
class LeaderRow:
    """One finding: its rule set, how its people fare beside everyone else, and how sure that is.

    Attributes
    ----------
    rule_set : str
        In words: ``sex = Male, 40 ≤ age < 60``.
    rules : tuple of dict
        One a rule: attribute, rule in words, the values or bins it admits.
    direction : {"advantaged", "harmed"}
        Whether people inside get the favorable decision more often than those outside, or less.
    support : float
        Share of people inside.
    score : Estimate
        |favorable_in - favorable_out|; 0 is fair. Interval corrected for all rule sets looked at.
    difference : Estimate
        The same with its sign: below 0 people inside are harmed.
    favorable_in, favorable_out : Estimate
        Favorable shares, each with its own Wilson interval.
    margin : float
        The paper's margin of error, of the sampled score where there is one, else of the score on the data.
    confidence : float
        Confidence of that margin.
    p_value, adjusted_p : float
        Exact p-value of this rule set by itself; and corrected for all.
    confirmed : bool
        Found on a random half of the people and found again, in the same direction, on the other.
    equal, similar : int
        Further rule sets with exactly these people; and other rule sets counted as this finding.
    number : int
        Row of the rule set in the table ``rule_sets``.
    material : bool or None
        Of evidence: whether the difference is as large as the auditor calls material.
    people_needed : int or None
        People inside, all others growing alike, from which insufficient evidence is settled.
    within : Estimate or None
        Of a group narrowed by ordinary columns: favorable share minus that of the others in the same
        context, with an interval corrected as the score's.
    favorable_context : float or None
        Favorable share of those others.
    contributions : tuple of Contribution
        What each condition adds to the difference (Shapley values); empty for more than 12 conditions.
    """

    rule_set: str
    rules: tuple[dict[str, Any], ...]
    direction: str
    verdict: Verdict
    support: float
    score: Estimate
    difference: Estimate
    favorable_in: Estimate
    favorable_out: Estimate
    margin: float
    confidence: float
    n_in: float
    n_out: float
    p_value: float
    adjusted_p: float
    confirmed: bool
    sampled: SampledScore | None
    equal: int
    similar: int
    number: int
    material: bool | None = None
    people_needed: int | None = None
    within: Estimate | None = None
    favorable_context: float | None = None
    contributions: tuple[Contribution, ...] = ()


@dataclass(frozen=True)
class MeasureRow:
    """One finding by a measure: a rule set whose people the model errs on differently.

    Attributes
    ----------
    inside, outside : Estimate
        Mean of the measure over those whom it is about, each with its own interval.
    difference : Estimate
        Inside minus outside, its interval corrected for all rule sets and measures.
    n_in, n_out : float
        People whom the measure is about.
    number : int
        Row of the rule set in the table ``rule_sets``.
    contributions : tuple of Contribution
        What each condition adds to the difference (Shapley values); empty for more than 12 conditions.
    """

    rule_set: str
    verdict: Verdict
    inside: Estimate
    outside: Estimate
    difference: Estimate
    n_in: float
    n_out: float
    adjusted_p: float
    number: int
    similar: int
    contributions: tuple[Contribution, ...] = ()


@dataclass(frozen=True)
class MeasureResult:
    """The same rule sets by one measure of error.

    Attributes
    ----------
    measure : str
        As the options name it, or as the function given was named.
    name, among, what : str
        In words: what it is called, whom it is about, what it is the share or mean of.
    share : bool
        Whether its values are shares: differences are then points.
    overall : Estimate
        Of everyone whom it is about.
    family : int
        Rule sets with two people or more inside and outside whom it is about: those it is corrected for.
    critical : float
        z-score for evidence.
    leaderboard : tuple of MeasureRow
    finding : str
    """

    measure: str
    name: str
    among: str
    what: str
    share: bool
    overall: Estimate
    family: int
    critical: float
    judged: Judgment
    leaderboard: tuple[MeasureRow, ...]
    finding: str

    def to_frame(self) -> pd.DataFrame:
        """Return its leaderboard as a table."""
        return frame_of(
            self.leaderboard,
            {
                "rule set": "rule_set",
                "inside": "inside.value",
                "outside": "outside.value",
                ("difference", "low", "high"): "difference",
                "people inside": "n_in",
                "people outside": "n_out",
                "adjusted p": "adjusted_p",
                "verdict": "verdict",
                "similar rule sets": "similar",
            },
        )


@dataclass(frozen=True)
class Discovery:
    """What one half of the people showed, and the other half said of it.

    Attributes
    ----------
    n_first, n_second : int
        People of each half.
    discovered, confirmed : int
        Rule sets with evidence on the first half, and of these confirmed on the second.
    rule_set : str
        The rule set with the largest score on the first half.
    score_first : float
        Its score there, too large because it was picked as the largest.
    score_second : Estimate
        Its score on the second half, in the direction of the first: an honest estimate of that group.
    """

    n_first: int
    n_second: int
    discovered: int
    confirmed: int
    rule_set: str
    score_first: float | None
    score_second: Estimate


@dataclass(frozen=True)
class SweepRow:
    """Effect of the support threshold (Table 6)."""

    support: float
    n_frequent: int
    n_distinct: int
    rule_set: str | None
    score: float | None


@dataclass(frozen=True, eq=False)
class RuleSetsResult(RowsResult):
    """Result of a rule-set audit.

    Attributes
    ----------
    n_candidates, n_counted, n_frequent, n_distinct : int
        Rule sets by definition; settled before the search stopped; frequent; frequent and different in
        people, with someone outside: the family that p-values and intervals are corrected for.
    complete : bool
        Whether every candidate was settled.
    leaderboard : tuple of LeaderRow
        Different findings, first in rank first.
    inference : dict
        ``correction``, ``permutations``, ``critical`` (z-score for evidence), ``interval_level`` (error rate
        of one interval so that all hold together).
    top_score, shrunken_score : float
        Largest score, and what is left of it when the gain from being picked as the largest is taken off.
    measures : tuple of MeasureResult
        The same rule sets by each measure of error asked for.
    shrunken : Estimate
        The latter with an interval of the true difference of the rule set that came first, in its direction.
    sampling : dict or None
        Perturbation sample: people drawn, attributes perturbed, whether every margin was reached.
    sweep : tuple of SweepRow
    exchanged : Exchanged or None
        Of texts: every rule set tested on texts into which its terms were exchanged.
    rule_sets : DataFrame (S, ...)
        One row a distinct rule set: rule of every attribute, counts, rates, intervals, p-values.
    rules : DataFrame
        One row a rule: attribute, words, levels it admits.
    cells : DataFrame (C, ...)
        One row a combination of levels: people, favorable ones, perturbed people.
    people : DataFrame, indexed by the user's row number
        Cell, decision and score of every person audited.
    """

    outcome: str
    n: float
    favorable: Estimate
    attributes: tuple[dict[str, Any], ...]
    n_candidates: int
    n_counted: int
    n_frequent: int
    n_distinct: int
    complete: bool
    leaderboard: tuple[LeaderRow, ...]
    inference: dict[str, Any]
    top_score: float
    shrunken_score: float
    discovery: Discovery
    sampling: dict[str, Any] | None
    sweep: tuple[SweepRow, ...]
    rule_sets: pd.DataFrame
    rules: pd.DataFrame
    cells: pd.DataFrame
    people: pd.DataFrame
    shrunken: Estimate | None = None
    exchanged: TermExchange | None = None
    measures: tuple[MeasureResult, ...] = ()

    @property
    def about(self) -> str:
        """The rule set whose interval the verdict follows from."""
        if self.judged.decided_by.startswith(DECIDED_BY):
            return self.judged.decided_by.removeprefix(DECIDED_BY)
        stated = [row for row in self.leaderboard if self.judged.interval in (row.score, row.difference)]
        return stated[0].rule_set if stated else ""  # of an earlier version

    def to_frame(self) -> pd.DataFrame:
        """Return the leaderboard as a table."""
        return leaderboard_frame(self.leaderboard)


def leaderboard_frame(rows: tuple[LeaderRow, ...]) -> pd.DataFrame:
    """Return leaderboard rows as a table; differences are from those compared, as the rows state them."""
    columns: dict[Any, str] = {
        "rule set": "rule_set",
        "direction": "direction",
        ("difference", "low", "high"): "difference",
        "favorable inside": "favorable_in.value",
        "favorable outside": "favorable_out.value",
        "people inside": "n_in",
        "people outside": "n_out",
        "support": "support",
        "margin": "margin",
        "sampled score": "sampled.score.value",
        "p": "p_value",
        "adjusted p": "adjusted_p",
        "confirmed": "confirmed",
        "verdict": "verdict",
        "similar rule sets": "similar",
    }
    return frame_of(rows, columns)
