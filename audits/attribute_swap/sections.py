"""What is shown of changing one word."""

from __future__ import annotations

from audits.attribute_swap import figures
from audits.attribute_swap.result import AttributeSwapResult
from audits.records import Exhibit, Section
from audits.stats.text import count, estimate_text, number, percent
from audits.stats.vocabulary import vocabulary


def section(result: AttributeSwapResult) -> Section:
    """Arrange the result."""
    words, row, each = vocabulary(), result.deciding, figures.people_a_dot(result)
    unit = "" if each == 1 else f" A dot is about {each:,} {words.people}."
    decides = "share of decisions changed" if result.by_changed else "net share"
    whole = [row for row in result.swaps if not row.within]
    changed, asked = sum(row.people(row.changed) for row in whole), sum(row.n for row in whole)
    share = percent(changed / asked if asked else 0.0, asked)
    told = f"{count(changed)} of {count(asked)}" if row.counted else f"{share} of"
    exhibits = [
        Exhibit(
            "blocks",
            f"The model reads {row.attribute} itself"
            if row.read
            else f"The model does not read {row.attribute}",
            f"Line: {decides} and interval. Filled: {words.share_yes}. Hollow: {words.no or 'not'}. "
            f"Orange and gray dots keep their decision; the others change with {row.attribute}.{unit}",
            lambda: figures.blocks(result),
            result.to_frame,
        ),
        Exhibit(
            "net",
            f"{told} decisions change",
            "Dot: gained minus lost; line: interval, corrected for all groups. Bars: everyone whose decision "
            "changes.",
            lambda: figures.net(result),
            result.to_frame,
            tab="All pairs",
        ),
    ]
    if len(moved := figures.moved_people(result)):
        first = moved.iloc[0]
        exhibits.append(
            Exhibit(
                "moved",
                f"One change moves a score from {number(first['score'])} to {number(first['score_after'])}",
                f"Gray: score as it is. Orange: with the value changed. Filled: {words.share_yes}.",
                lambda: figures.score_changes(result),
                lambda: figures.moved_people(result),
                tab="who",
            )
        )
    facts = {
        "Decisions changed": f"{told}{'' if row.counted else ' those'} asked about",
        "Pairs of values": f"{result.pairs_asked:,} of {result.pairs:,}",
        "Verdict": f"{result.verdict}: {decides} {estimate_text(result.judged.interval, 100, ' points')}",
    }
    return Section(title="Change one word", exhibits=tuple(exhibits), facts=facts)
