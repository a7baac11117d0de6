"""What every sentence of a result has to be, whoever is audited and however many they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from audits.drawing.style import alt_text
from audits.runs.registry import AUDITS

__all__ = ["all_read_well", "sentences_of"]

_WRONG = {
    "one of several": r"\b1 (?:people|groups|pairs|rows|texts|rule sets)\b(?! of )",
    "one person in the plural": r"(?:^|[.;,] )(?:[Aa]bout )?1 of \d[\d,]* (?:(?! while )[^.;:(]|\([^)]*\))*? "
    r"(?:are|do|have|lie|flip|get)\b",
    "a value as a word": r"(?<!“)\b(?:Other|who \d|who (?:no|yes)|everyone else) (?:people|counterparts)\b"
    r"|\b(?:Other|\d) minus\b",
    "minus nothing": r"[-−]0(?:\.0*)?(?![\d.,])",
    "a difference with a sign": r"\b(?:differ|differs|apart) by [-−]",
    "a difference in per cent": r"\bDifference of [^.]*\d %|\bdifference -?\d+ %",
    "a number that is none": r"\bnan\b|\binf\b|\bNone\b(?! of)|– to –|\(–|–––",
    "part of a person": r"(?:^|[.;] )\d+\.\d+ of \d|\bof \d+\.\d+ (?!points|times)[a-z]",
    "two spellings": r"[Ff]avour|qualised",
    "a number in two ways": r"(?<![\d.,=])\d{4,}(?![\d.]) (?:people|of)\b",
    "a range in brackets": r"\[\d+, \d+[)\]] (?:people|counterparts)",
    "blamed without evidence": r"\b(?:harmed|advantaged) by\b",
}


def sentences_of(audit: str, result: Any) -> Iterator[tuple[str, str]]:
    """Yield all that a reader is told of a result: where, and what."""
    yield "first", AUDITS[audit].sentence(result)
    yield "finding", result.finding
    for warning in result.warnings:
        yield "warning", warning
    section = AUDITS[audit].section(result)
    for name, fact in section.facts.items():
        yield "fact", f"{name}: {fact}"
    for exhibit in section.exhibits:
        yield "caption", exhibit.caption
        yield "alt", alt_text(exhibit.figure())


def all_read_well(audit: str, result: Any) -> list[str]:
    """Return what is said, once no sentence of a result is wrong in a way that we know."""
    told = []
    for where, said in sentences_of(audit, result):
        for why, pattern in _WRONG.items():
            assert not re.search(pattern, said), f"{why}, in the {where}: {said}"
        if where in {"first", "finding", "warning"}:
            for sentence in re.split(r"(?<=[a-z)\]%”\d]\.) ", said):
                assert not sentence[:1].islower(), f"begins small, in the {where}: {sentence}"
        if where == "first":
            assert len(said.split()) <= 30, said
        told.append(said)
    return told
