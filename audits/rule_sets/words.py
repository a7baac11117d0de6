"""The finding of a rule-set audit in a few sentences, and what to beware of."""

from __future__ import annotations

from audits.mining.texts import FEWEST_TEXTS
from audits.rule_sets.result import Discovery, LeaderRow
from audits.stats import EVIDENCE, INSUFFICIENT, Verdict
from audits.stats.words import count, number, p_words, percent

__all__ = ["finding", "points", "warnings_for"]


def points(share: float | None, n: float) -> str:
    """Word a difference of shares in percentage points: one decimal from 1,000 people on, none below.

    What is not zero is not worded as zero, so that an interval without zero is seen to be one.

    Examples
    --------
    >>> points(0.3041, 7529.0), points(0.0031, 46.0), points(0.0, 46.0)
    ('30.4', '0.3', '0')
    """
    if share is None:
        return "–"
    digits = 1 if n >= 1000 else 0
    least = min((more for more in range(digits, 5) if round(abs(100 * share), more) > 0), default=digits)
    return f"{100 * share:.{least}f}"


def finding(
    rows: tuple[LeaderRow, ...],
    outcome: str,
    judged: Verdict,
    *,
    noun: str,
    family: int,
    n_evidence: int,
    smallest: float,
    material: float,
    tolerance: float,
    needed: int | None,
) -> str:
    """Say which group, how many of how many, compared with whom, and how sure that is."""
    first = next((row for row in rows if row.verdict == EVIDENCE), rows[0])
    n = first.n_in
    good = "" if outcome == "favorable" else f" ({outcome})"
    way = "more" if first.direction == "advantaged" else "less"
    if first.score.value == 0:
        way = "of difference"
    gap = (
        f"Of {count(n)} {noun} with {first.rule_set}, {percent(first.favorable_in.value, n)} are decided "
        f"favorably{good}; of the other {count(first.n_out)}, "
        f"{percent(first.favorable_out.value, first.n_out)}: "
        f"{points(first.score.value, n)} points {way} "
        f"({points(first.score.low, n)}–{points(first.score.high, n)}, corrected for {family:,} groups)"
    )
    if judged == EVIDENCE:
        half = f"{'' if first.confirmed else 'not '}confirmed on a half of the {noun} it was not found on"
        return f"{gap}, {half}.{_further(n_evidence - 1, rows)}"
    beyond = (
        "beyond chance"
        if tolerance == 0
        else f"by more than the tolerated {100 * tolerance:.3g} points beyond chance"
    )
    text = (
        f"None of {family:,} groups of at least {count(smallest)} {noun} differs {beyond}. "
        f"The largest difference: {gap[0].lower()}{gap[1:]}, p {p_words(first.adjusted_p)}."
    )
    seen = f"{100 * material:.3g}-point"
    if judged == INSUFFICIENT:
        return f"{text} About {needed:,} {noun} would be needed to see a {seen} difference in the smallest."
    return f"{text} A {seen} difference would have been seen in every one of them."


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
    people: float,
    discovery: Discovery,
    judged: Verdict,
    top_confirmed: bool,
    dropped: int,
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
    if people < 0.5 * rows:
        found.append(
            f"Weights are numbers of people: {rows:,} rows stand for {number(people)} people only, and tests "
            "see no more than those."
        )
    if judged == EVIDENCE and not top_confirmed:
        found.append(
            f"The first row was not confirmed: with {discovery.n_first:,} people to find on and "
            f"{discovery.n_second:,} to confirm on, halves see less than everyone together."
        )
    if untested:
        found.append(
            f"{untested:,} rule sets are frequent by their categories, but fewer than {FEWEST_TEXTS} texts "
            "hold their very "
            "terms: they were not tested."
        )
    if dropped:
        found.append(
            f"The table holds the first {count(dropped)} rule sets in rank; the others were tested too."
        )
    return tuple(found)
