"""The finding of a rule-set audit in a few sentences, and what to beware of."""

from __future__ import annotations

from collections.abc import Iterator

from audits.rule_sets.perturbation.terms import TermExchange
from audits.rule_sets.result import LeaderRow, RuleSetsResult
from audits.stats import EVIDENCE, NO_MATERIAL
from audits.stats.badges import limit_phrase
from audits.stats.text import count, number, out_of, p_words, people, percent, several
from audits.stats.vocabulary import vocabulary
from audits.subgroups.attributes import read_rule_set
from audits.subgroups.phrases import group_of
from audits.subgroups.texts import MIN_TEXTS
from audits.text import begun, points_of, points_words, shortest


def headline(result: RuleSetsResult) -> str:
    """Say which group gets the decision less or more often than others, or that none does."""
    words = vocabulary()
    if not result.leaderboard:
        return "No group is large enough to examine."
    if result.favorable.value in (0.0, 1.0):
        said = f"{'Everybody' if result.favorable.value else 'Nobody'} {words.is_yes}"
        return f"{said}, so no group stands out."
    row = _about(result)
    return shortest(*(_headline(result, row, group_of(row.rules, longest=most)) for most in (None, 60, 40)))


def _headline(result: RuleSetsResult, row: LeaderRow, who: str) -> str:
    words = vocabulary()
    inside, outside = row.favorable_in.value or 0.0, row.favorable_out.value or 0.0
    counted = out_of(inside * row.n_in, row.n_in)
    others = percent(outside, row.n_out, row.n_in)
    rates = f"{percent(inside, row.n_in, row.n_out)} ({counted}) against {others}"
    if result.verdict == EVIDENCE:
        way = "more" if row.direction == "advantaged" else "less"
        return f"{begun(who)} {words.are_yes} {way} often than others: {rates}."
    ends = (row.difference.value, row.difference.low, row.difference.high)
    reach = points_words(points(max(abs(end or 0.0) for end in ends), row.n_in))
    if result.verdict == NO_MATERIAL:
        least = f"{100 * result.options['support']:.3g}% of {_noun(result)}"
        return f"No group of at least {least} stands out. The gap is at most {reach} for {who}: {rates}."
    begin = "We can't tell whether a group stands out"
    return f"{begin}. The gap could be as large as {reach} for {who}: {rates}."


def _about(result: RuleSetsResult) -> LeaderRow:
    """Return the row that the verdict follows from."""
    return next((row for row in result.leaderboard if row.rule_set == result.about), result.leaderboard[0])


def points(share: float | None, n: float) -> str:
    """Word a difference of shares of `n` people in percentage points."""
    return "–" if share is None else points_of(share, n)


class GroupNames:
    """The noun phrase of any rule set of a result, by its words (`group_of`)."""

    def __init__(self, result: RuleSetsResult) -> None:
        levels = {item["name"]: item["levels"] for item in result.attributes}
        table = zip(result.rules["attribute"], result.rules["words"], result.rules["levels"], strict=True)
        self._rules = {
            words: {
                "attribute": name,
                "words": words,
                "values": [levels[name][int(place)] for place in admitted.split()],
            }
            for name, words, admitted in table
        }

    def __call__(self, rule_set: str) -> str:
        """Return the people of the rule set; its words as they are where it is none of this result."""
        rules = read_rule_set(self._rules, rule_set)
        return rule_set if rules is None else group_of(rules)


def finding(result: RuleSetsResult, *, n_evidence: int, smallest: float) -> str:
    """Say which group, how many of how many, compared with whom, and how sure that is.

    Parameters
    ----------
    n_evidence : int
        Rule sets with evidence.
    smallest : float
        People of the smallest group that was looked at.
    """
    about, judged, family = _about(result), result.judged, result.n_distinct
    limit, noun = limit_phrase(judged), _noun(result)
    n, words = about.n_in, vocabulary()
    others = "the others in the same context" if about.within is not None else "all others"
    ends = [points(end, n) for end in (about.difference.value, about.difference.low, about.difference.high)]
    reach = f"{points_words(ends[0])} ({ends[1]} to {ends[2]}, corrected for {several(family, 'group')})"
    reach = reach.replace("-", "−")
    inside = about.favorable_in.value or 0.0
    who = (
        f"{percent(inside, n, about.n_out)} of {group_of(about.rules)} {words.are_yes} "
        f"({out_of(inside * n, n)}), against {percent(about.favorable_out.value or 0.0, about.n_out, n)} of "
        f"{others} ({count(about.n_out)}). The difference is {reach}."
    )
    if judged.verdict == EVIDENCE:
        half = (
            f"found on one half of the {noun} and {'' if about.confirmed else 'not '}confirmed on the other"
        )
        small = f" It is within your limit of {limit}." if judged.material is False else ""
        return f"{who}{small} It was {half}.{_further(n_evidence - 1, result.leaderboard)}"
    large = f"of at least {_so_many(smallest, noun)}"
    if judged.verdict == NO_MATERIAL:
        every = {1: f"The one group {large} lies", 2: f"Both groups {large} lie"}
        within = every.get(family, f"All {family:,} groups {large} lie")
        return f"{within} within {limit} of {others}. Nearest to that limit: {who}"
    tolerance = result.options["tolerance"]
    beyond = f"by more than the tolerated {100 * tolerance:.3g} points" if tolerance else "more than chance"
    none = {1: f"The one group {large} does not differ", 2: f"Neither of 2 groups {large} differs"}
    begin = none.get(family, f"None of {family:,} groups {large} differs")
    text = f"{begin} {beyond} (p {p_words(about.adjusted_p)}). Least certain: {who}"
    if judged.reason:
        return f"{text} More {noun} would not settle it: {judged.reason}."
    if judged.people_needed is None:
        return text
    return f"{text} About {judged.people_needed:,} {noun} would settle it."


def _noun(result: RuleSetsResult) -> str:
    return "texts" if result.options.get("text") else "people"


def _so_many(number: float, noun: str) -> str:
    """Word so many people, or texts.

    Examples
    --------
    >>> _so_many(1, "people"), _so_many(60, "people"), _so_many(1, "texts")
    ('1 person', '60 people', '1 text')
    """
    return people(number) if noun == "people" else several(number, noun.removesuffix("s"))


def on_exchanged(found: TermExchange | None) -> str:
    """Say what the very terms do in texts that differ in nothing else."""
    if found is None or not found.rows:
        return ""
    row = found.rows[0]
    gap = row.difference
    ends = [points(end, row.texts) for end in (gap.value, gap.low, gap.high)]
    reach = f"{points_words(ends[0])} ({ends[1]} to {ends[2]}, corrected for {found.tested:,})"
    reach = reach.replace("-", "−")
    begin = (
        f" With terms exchanged in the same texts, {found.evident:,} of {found.tested:,} rule sets get "
        f"different decisions; the first is {row.rule_set}: {reach}, p {p_words(row.adjusted_p)}"
    )
    if not found.evident:
        begin = (
            f" With terms exchanged in the same texts, none of {found.tested:,} rule sets gets different "
            f"decisions by more than chance. Farthest is {row.rule_set}: {reach}"
        )
    return f"{begin}."


def _further(further: int, rows: tuple[LeaderRow, ...]) -> str:
    """Say how many more rule sets differ, and how many findings they come down to."""
    if not further:
        return ""
    findings = sum(row.verdict == EVIDENCE for row in rows)
    told = f" {count(further)} further rule set{'s differ' if further > 1 else ' differs'} beyond chance"
    if findings == 1:
        return f"{told}. They are of the same people."
    more = "or more " if findings == len(rows) else ""
    return f"{told}. Grouped by the people they share, they make {findings} {more}findings in all."


def warnings_for(result: RuleSetsResult, *, invents: bool, fractional: bool, untested: int) -> Iterator[str]:
    """Yield what a reader could misread.

    Parameters
    ----------
    invents : bool
        Whether the model can score people who are not in the data.
    fractional : bool
        Whether weights are no whole numbers.
    untested : int
        Rule sets of texts that are frequent by their categories alone.
    """
    halves, found = result.discovery, result.exchanged
    if result.favorable.value in (0.0, 1.0):
        way = "favorably" if result.favorable.value else "unfavorably"
        yield (f"The model decides {way} for everyone audited, so no group can differ. Check the threshold.")
    if not result.complete:
        yield (
            f"The search stopped after {result.n_counted:,} of {result.n_candidates:,} candidates, short "
            "rule sets and large groups first. The rest were not tested. Raise max_candidates or the "
            "support, or limit the depth."
        )
    if result.options["samples"] and result.sampling is None:
        why = "nothing the model reads is left to perturb"
        yield f"Rates come from the data alone: {why if invents else 'the model is a column of the data'}."
    if result.sampling is not None and not result.sampling["reached"]:
        yield "Some sampled scores have a wider margin than requested, because max_samples was reached."
    if fractional:
        yield (
            "Weights are not whole numbers: p-values and halves use people rounded per combination of groups."
        )
    if result.n < 0.5 * result.rows["audited"]:
        yield (
            f"Weights are numbers of people: {result.rows['audited']:,} rows represent only "
            f"{number(result.n)} people. Tests use no more than those."
        )
    if result.verdict == EVIDENCE and not result.leaderboard[0].confirmed:
        yield (
            f"The first row was not confirmed: it was found on {halves.n_first:,} people and checked on "
            f"{halves.n_second:,}, and halves have less power than everyone together."
        )
    few = f"fewer than {MIN_TEXTS} texts"
    if untested:
        so = "tested only on texts with exchanged terms" if found and found.tested else "not tested"
        yield (
            f"{untested:,} rule sets are frequent by category, but {few} hold their exact terms. They were "
            f"{so}."
        )
    if found is not None and found.untested:
        yield (
            f"{found.untested:,} rule sets were not tested on exchanged texts: {few} could be made for them, "
            "or there is no other term to exchange."
        )
    if len(result.rule_sets) < result.n_distinct:
        yield (
            f"The table holds the top {count(len(result.rule_sets))} rule sets; the others were tested, too."
        )


def without_luck(result: RuleSetsResult) -> str:
    """Word the largest score without the gain from being picked as the largest, with its interval."""
    words = f"{number(100 * result.shrunken_score)} after correcting for picking the largest"
    found = result.shrunken
    if found is None or found.low is None or found.high is None:
        return words
    low, high = (number(100 * end).replace("-", "−") for end in (found.low, found.high))
    return f"{words} ({low} to {high}; {found.method})"
