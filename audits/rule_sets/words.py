"""The finding of a rule-set audit in a few sentences, and what to beware of."""

from __future__ import annotations

from audits.brief import brief, points_of, shortest
from audits.mining.attributes import quoted
from audits.mining.texts import FEWEST_TEXTS
from audits.rule_sets.perturbed.exchanging import Exchanged
from audits.rule_sets.result import Discovery, LeaderRow, RuleSetsResult
from audits.stats import EVIDENCE, NO_MATERIAL, Judged, Verdict
from audits.stats.words import count, number, out_of, p_words, people, percent, several

__all__ = ["finding", "headline", "on_exchanged", "points", "warnings_for", "without_luck"]


def headline(result: RuleSetsResult) -> str:
    """Say which group the model decides differently from everyone else, or that none stands out."""
    judged = result.judged
    stated = [row for row in result.leaderboard if judged.interval in (row.score, row.difference)]
    if not result.leaderboard:
        return "There is no group that is large enough to look at."
    row = stated[0] if stated else result.leaderboard[0]
    if result.favorable.value in (0.0, 1.0):
        who = "Everybody" if result.favorable.value else "Nobody"
        return f"{who} gets the favorable decision, so no group stands out."
    numbers = (
        f"{out_of((row.favorable_in.value or 0.0) * row.n_in, row.n_in)} against "
        f"{_others((row.favorable_out.value or 0.0) * row.n_out, row.n_out)}"
    )
    if judged.verdict == EVIDENCE:
        way = "more frequent" if row.direction == "advantaged" else "rarer"
        small = "" if judged.material is not False else " (less than matters)"
        told = [(f"The favorable decision is {way} for", f": {numbers}{small}.")]
    elif judged.verdict == NO_MATERIAL:
        told = [("No group stands out: even of", f", {numbers} get the favorable decision.")]
    else:
        told = [
            ("These data cannot tell whether any group stands out; the farthest is", f": {numbers}."),
            ("No group stands out beyond chance; the farthest is", f": {numbers}."),
        ]
    names = [brief(quoted(row.rule_set), most) for most in (99, 12, 9)]
    return shortest(*(f"{begin} {name}{end}" for name in names for begin, end in told))


def _others(some: float, everybody: float) -> str:
    """Word how many of the others.

    Examples
    --------
    >>> _others(3, 99), _others(0, 1), _others(1, 1)
    ('3 of 99 others', 'none of 1 other', 'the only other')
    """
    told = out_of(some, everybody)
    if told == "the only one":
        return "the only other"
    return f"{told} other" if told.endswith(" of 1") else f"{told} others"


def points(share: float | None, n: float) -> str:
    """Word a difference of shares of `n` people in percentage points."""
    return "–" if share is None else points_of(share, n)


def finding(
    rows: tuple[LeaderRow, ...],
    outcome: str,
    judged: Judged,
    *,
    about: LeaderRow,
    noun: str,
    family: int,
    n_evidence: int,
    smallest: float,
    material: float,
    tolerance: float,
) -> str:
    """Say which group, how many of how many, compared with whom, and how sure that is.

    Parameters
    ----------
    about : LeaderRow
        The group whose interval the verdict follows from.
    """
    n = about.n_in
    good = "" if outcome == "favorable" else f" ({outcome})"
    who = (
        f"{_so_many(n, noun)} with {about.rule_set}, {percent(about.favorable_in.value, n)} are decided "
        f"favorably{good}; of the other {count(about.n_out)}, "
        f"{percent(about.favorable_out.value, about.n_out)}"
    )
    if judged.verdict == EVIDENCE:
        way = "more" if about.direction == "advantaged" else "less"
        gap = (
            f"Of {who}: {points(about.score.value, n)} points {way} "
            f"({points(about.score.low, n)}–{points(about.score.high, n)}, corrected for {family:,} groups)"
        )
        small = "" if judged.material is not False else f", smaller than the {100 * material:.3g} that matter"
        half = f"{'' if about.confirmed else 'not '}confirmed on a half of the {noun} it was not found on"
        return f"{gap}{small}, {half}.{_further(n_evidence - 1, rows)}"
    ends = [points(end, n) for end in (about.difference.value, about.difference.low, about.difference.high)]
    reach = f"{ends[0]} points ({ends[1]} to {ends[2]}, corrected for {family:,} groups)".replace("-", "−")
    large = f"of at least {_so_many(smallest, noun)}"
    if judged.verdict == NO_MATERIAL:
        every = {1: f"The one group {large} lies", 2: f"Both groups {large} lie"}
        return (
            f"{every.get(family, f'All {family:,} groups {large} lie')} within {100 * material:.3g} points "
            f"of everyone else, with chance allowed for. The farthest that any may differ: of {who}: {reach}."
        )
    beyond = (
        "beyond chance"
        if tolerance == 0
        else f"by more than the tolerated {100 * tolerance:.3g} points beyond chance"
    )
    text = (
        f"{'Neither' if family == 2 else 'None'} of {several(family, 'group')} {large} differs {beyond}. The "
        f"farthest that any may differ: of {who}: {reach}, p {p_words(about.adjusted_p)}."
    )
    if judged.reason:
        return f"{text} More {noun} would not settle it: {judged.reason}."
    if judged.people_needed is None:
        return text
    return f"{text} About {judged.people_needed:,} {noun} would give intervals short enough to settle it."


def _so_many(number: float, noun: str) -> str:
    """Word so many people, or texts.

    Examples
    --------
    >>> _so_many(1, "people"), _so_many(60, "people"), _so_many(1, "texts")
    ('1 person', '60 people', '1 text')
    """
    return people(number) if noun == "people" else several(number, noun.removesuffix("s"))


def on_exchanged(found: Exchanged | None) -> str:
    """Say what the very terms do in texts that differ in nothing else."""
    if found is None or not found.rows:
        return ""
    row = found.rows[0]
    gap = row.difference
    ends = [points(end, row.texts) for end in (gap.value, gap.low, gap.high)]
    reach = f"{ends[0]} points ({ends[1]} to {ends[2]}, corrected for {found.tested:,})".replace("-", "−")
    begin = (
        f" With terms exchanged in the same texts, {found.evident:,} of {found.tested:,} rule sets are "
        f"decided differently; first {row.rule_set}: {reach}, p {p_words(row.adjusted_p)}"
    )
    if not found.evident:
        begin = (
            f" With terms exchanged in the same texts, none of {found.tested:,} rule sets is decided "
            f"differently beyond chance; the farthest is {row.rule_set}: {reach}"
        )
    return f"{begin}."


def _further(further: int, rows: tuple[LeaderRow, ...]) -> str:
    """Say how many more rule sets differ, and how many findings they come down to."""
    if not further:
        return ""
    findings = sum(row.verdict == EVIDENCE for row in rows)
    told = f" {count(further)} further rule set{'s differ' if further > 1 else ' differs'} beyond chance"
    if findings == 1:
        return f"{told}, by the same people."
    more = "or more " if findings == len(rows) else ""
    return f"{told}; gathered by the people they share, all are {findings} {more}findings."


def warnings_for(
    *,
    constant: bool,
    favorable: bool,
    complete: bool,
    n_counted: int,
    n_candidates: int,
    sampled: bool,
    invents: bool,
    samples: int,
    reached: bool,
    fractional: bool,
    rows: int,
    held: float,
    discovery: Discovery,
    judged: Verdict,
    top_confirmed: bool,
    dropped: int,
    exchanged: Exchanged | None,
    untested: int,
) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = []
    if constant:
        found.append(
            f"The model decides {'favorably' if favorable else 'unfavorably'} on everyone audited, so no "
            "group can "
            "differ: check the threshold."
        )
    if not complete:
        found.append(
            f"The search stopped after {n_counted:,} of {n_candidates:,} candidates, short rule sets and "
            "large groups "
            "first. What it did not reach was not tested: raise max_candidates or the support, or limit "
            "the depth."
        )
    if samples and not sampled:
        why = (
            "nothing that the model reads is left to perturb"
            if invents
            else "the model is a column of the data"
        )
        found.append(f"Rates come from the data alone, because {why}.")
    if sampled and not reached:
        found.append(
            "Some sampled scores have a wider margin than asked for, because max_samples was reached."
        )
    if fractional:
        found.append(
            "Weights are not whole numbers: p-values and halves use people rounded per combination of groups."
        )
    if held < 0.5 * rows:
        found.append(
            f"Weights are numbers of people: {rows:,} rows stand for {number(held)} people only, and tests "
            "see no more than those."
        )
    if judged == EVIDENCE and not top_confirmed:
        found.append(
            f"The first row was not confirmed: with {discovery.n_first:,} people to find on and "
            f"{discovery.n_second:,} to confirm on, halves see less than everyone together."
        )
    if untested:
        so = "they were not tested"
        if exchanged is not None and exchanged.tested:
            so = "they were tested only on texts into which the terms were exchanged"
        found.append(
            f"{untested:,} rule sets are frequent by their categories, but fewer than {FEWEST_TEXTS} texts "
            f"hold their very terms: {so}."
        )
    if exchanged is not None and exchanged.untested:
        found.append(
            f"{exchanged.untested:,} rule sets were not tested on exchanged texts: fewer than {FEWEST_TEXTS} "
            "different texts could be made for them, or there is no other term to exchange."
        )
    if dropped:
        found.append(
            f"The table holds the first {count(dropped)} rule sets in rank; the others were tested too."
        )
    return tuple(found)


def without_luck(result: RuleSetsResult) -> str:
    """Word the largest score without the gain from being picked as the largest, with its interval."""
    words = f"{number(100 * result.shrunken_score)} without the luck of being picked"
    found = result.shrunken
    if found is None or found.low is None or found.high is None:
        return words
    low, high = (number(100 * end).replace("-", "−") for end in (found.low, found.high))
    return f"{words} ({low} to {high}; {found.method})"
