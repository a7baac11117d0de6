"""The finding of a rule-set audit in a few sentences, and what to beware of."""

from __future__ import annotations

from audits.brief import brief, points_of, shortest
from audits.mining.texts import FEWEST_TEXTS
from audits.rule_sets.perturbed.exchanging import Exchanged
from audits.rule_sets.result import Discovery, LeaderRow, RuleSetsResult
from audits.stats import EVIDENCE, NO_MATERIAL, Judged, Verdict
from audits.stats.words import count, number, out_of, p_words, people, percent, several

__all__ = ["finding", "headline", "on_exchanged", "points", "warnings_for", "without_luck"]


def headline(result: RuleSetsResult) -> str:
    """Say which group gets the decision less or more often than others, or that none does."""
    if not result.leaderboard:
        return "There is no group that is large enough to look at."
    if result.favorable.value in (0.0, 1.0):
        who = "Everybody" if result.favorable.value else "Nobody"
        return f"{who} gets the favorable decision, so no group stands out."
    row = next((each for each in result.leaderboard if each.rule_set == result.about), result.leaderboard[0])
    way = "more" if row.direction == "advantaged" else "less"
    begin, verb = {
        EVIDENCE: ("", f"get the favorable decision {way} often than others"),
        NO_MATERIAL: ("No group stands out. ", "could differ most"),
    }.get(result.verdict, ("We can't tell whether a group stands out. ", "could differ most"))
    who = "Texts" if result.options.get("text") else "People"
    names = [brief(row.rule_set, most) for most in (99, 9, 6)]
    told = [f"{begin}{who} with {name} {verb}: {_rates(row)}." for name in names]
    return shortest(*told)


def _rates(row: LeaderRow) -> str:
    """Word the two shares that are compared, percent first."""
    inside, outside = row.favorable_in.value or 0.0, row.favorable_out.value or 0.0
    counted = out_of(inside * row.n_in, row.n_in)
    return f"{_percent(inside, row.n_in)} ({counted}) against {_percent(outside, row.n_out)}"


def _percent(share: float, n: float) -> str:
    """Word a share without a space.

    Examples
    --------
    >>> _percent(0.154, 209), _percent(0.154, 2090)
    ('15%', '15.4%')
    """
    return percent(share, n).replace(" %", "%")


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
    n, good = about.n_in, "" if outcome == "favorable" else f" ({outcome})"
    others = "the others of the same context" if about.within is not None else "all others"
    ends = [points(end, n) for end in (about.difference.value, about.difference.low, about.difference.high)]
    reach = f"{ends[0]} points ({ends[1]} to {ends[2]}, corrected for {family:,} groups)".replace("-", "−")
    who = (
        f"of {_so_many(n, noun)} with {about.rule_set}, {_percent(about.favorable_in.value or 0.0, n)} get "
        f"the favorable decision{good}. Of {others}, {count(about.n_out)}, "
        f"{_percent(about.favorable_out.value or 0.0, about.n_out)} do. The difference is {reach}."
    )
    if judged.verdict == EVIDENCE:
        half = f"{'' if about.confirmed else 'not '}confirmed on a half of the {noun} it was not found on"
        small = f" It is smaller than your {100 * material:.3g} points." if judged.material is False else ""
        return f"O{who[1:]}{small} It is {half}.{_further(n_evidence - 1, rows)}"
    large = f"of at least {_so_many(smallest, noun)}"
    if judged.verdict == NO_MATERIAL:
        every = {1: f"The one group {large} lies", 2: f"Both groups {large} lie"}
        within = every.get(family, f"All {family:,} groups {large} lie")
        return f"{within} within {100 * material:.3g} points of {others}. Farthest: {who}"
    beyond = "more than chance gives"
    if tolerance:
        beyond = f"by more than the tolerated {100 * tolerance:.3g} points, and more than chance gives"
    text = (
        f"{'Neither' if family == 2 else 'None'} of {several(family, 'group')} {large} differs {beyond} "
        f"(p {p_words(about.adjusted_p)}). Farthest: {who}"
    )
    if judged.reason:
        return f"{text} More {noun} would not settle it: {judged.reason}."
    if judged.people_needed is None:
        return text
    return f"{text} About {judged.people_needed:,} {noun} would settle it."


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
