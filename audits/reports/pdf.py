"""A report as PDF, made without a browser; its figures are drawn from those that a screen shows."""

from __future__ import annotations

import functools
import io
import unicodedata
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Flowable, KeepTogether, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from audits.brief import unbroken
from audits.drawing.style import INK, alt_text
from audits.report_kinds import SMALL_SHARE, Template
from audits.reports.blocks import (
    Cell,
    Code,
    Document,
    Facts,
    Figure,
    FindingBlock,
    Grid,
    Heading,
    Text,
    shortened,
)
from audits.reports.contents import RunLike
from audits.reports.html import arrange
from audits.reports.paper import drawing_of
from audits.stats.words import count

__all__ = ["pdf_of", "render_pdf"]

_FONTS = Path(__file__).with_name("fonts")
_PLAIN, _BOLD = "EvenhandSans", "EvenhandSans-Bold"
_MARGIN = 48.0
_WIDTH = A4[0] - 2 * _MARGIN
_MOST_COLUMNS = 6
_MOST_ROWS = 40
_LONGEST_CELL = 120
_QUIET, _LINE = HexColor("#5B636D"), HexColor("#E3E6EA")
_MISSING = "\N{WHITE SQUARE}"


def render_pdf(
    run: RunLike,
    *,
    template: Template = "full",
    spec_text: str = "",
    sex: str | None = None,
    race: str | None = None,
    exclude_under: float = SMALL_SHARE,
) -> bytes:
    """Return a report as PDF; arguments as for `audits.reports.html.render_report`."""
    return pdf_of(arrange(run, template, spec_text, sex=sex, race=race, exclude_under=exclude_under))


def pdf_of(document: Document) -> bytes:
    """Return a document as PDF, the same bytes each time.

    Characters that the font does not have are shown as squares, and a note says so.
    """
    _fonts()
    page = _Page()
    head = [page.paragraph(document.title, "title"), page.paragraph(document.subtitle, "quiet")]
    flow: list[Flowable] = list(head)
    for block in document.blocks:
        flow += page.flow(block)
    if page.missing:
        note = f"{_MISSING}: characters that this PDF's font lacks; the HTML report has them."
        flow.append(page.paragraph(note, "quiet"))
    target = io.BytesIO()
    made = SimpleDocTemplate(
        target,
        pagesize=A4,
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        topMargin=44,
        bottomMargin=44,
        title=f"Evenhand: {document.title}",
        author="Evenhand",
        lang="en",
        invariant=1,
    )
    made.build(flow, onFirstPage=_number, onLaterPages=_number)
    return target.getvalue()


class _Page:
    """Turns blocks into what ReportLab lays out; notes whether the font lacked a character."""

    def __init__(self) -> None:
        self.missing = False

    def paragraph(self, text: str, style: str) -> Paragraph:
        return Paragraph(escape(self.printable(text)).replace("\n", "<br/>"), _styles()[style])

    def printable(self, text: str) -> str:
        """Return `text` in characters that the font has."""
        shown = []
        for sign in unicodedata.normalize("NFC", unbroken(text)):
            if sign == "\n" or ord(sign) in _glyphs():
                shown.append(sign)
            elif not unicodedata.combining(sign) and unicodedata.category(sign) not in {"Cf", "Cc"}:
                shown.append(_MISSING)
                self.missing = True
        return "".join(shown)

    def flow(self, block: Any) -> list[Flowable]:
        match block:
            case Heading():
                return [self.paragraph(block.text, f"h{block.level}")]
            case Text():
                return [self.paragraph(block.text, block.kind)]
            case Code():
                lines = [self.paragraph(_indented(line), "code") for line in block.text.splitlines()]
                return [*lines, Spacer(1, 6)]
            case FindingBlock():
                title = f"{block.title} · {block.badge}" if block.title else block.badge
                head, told = self.paragraph(title, "verdict"), self.paragraph(block.finding, "plain")
                return [KeepTogether([head, told])]
            case Facts():
                return [self._facts(block)] if block.rows else []
            case Grid():
                return list(self._grid(block))
            case Figure():
                return self._figure(block)
        raise TypeError(type(block).__name__)  # a new kind of block needs a line above

    def _facts(self, block: Facts) -> Table:
        rows = [[self.paragraph(name, "cell"), self.paragraph(value, "cell")] for name, value in block.rows]
        return _ruled(Table(rows, colWidths=[_WIDTH * 0.34, _WIDTH * 0.66]))

    def _figure(self, block: Figure) -> list[Flowable]:
        exhibit = block.exhibit
        found: list[Flowable] = [
            self.paragraph(exhibit.heading, "h3"),
            self.paragraph(exhibit.caption, "quiet"),
        ]
        made = block.exhibit.figure()
        drawn = drawing_of(made, _WIDTH, _PLAIN, self.printable)
        if drawn is None:  # nothing to draw: the figure says why
            found.append(self.paragraph(alt_text(made), "quiet"))
        else:
            found += [drawn[0], *(self.paragraph(note, "quiet") for note in drawn[1])]
        if block.exhibit.bars:  # they filled pages
            note = f"Its {count(block.table.whole)} bars are in the CSV tables."
            return [KeepTogether([*found, self.paragraph(note, "quiet")])]
        return [KeepTogether(found), *self._grid(block.table)]

    def _grid(self, block: Grid) -> Iterator[Flowable]:
        """Wide tables are cut into several, each with the columns that name its rows."""
        rows = block.rows[:_MOST_ROWS]
        texts = [place for place in range(len(block.head)) if not any(row[place].exact for row in rows)]
        names = [place for place in texts if place < 2] or [0]
        others = [place for place in range(len(block.head)) if place not in names]
        room = _MOST_COLUMNS - len(names)
        for start in range(0, max(len(others), 1), room):
            yield self._part(block.head, rows, names + others[start : start + room], len(names))
        if len(rows) < block.whole:
            note = f"The first {len(rows)} of {count(block.whole)} rows; the CSV tables hold all."
            yield self.paragraph(note, "quiet")

    def _part(
        self, head: tuple[str, ...], rows: tuple[tuple[Cell, ...], ...], places: list[int], names: int
    ) -> Flowable:
        exact = [any(row[place].exact for row in rows) for place in places]
        styles = ["number head" if number else "head" for number in exact]
        lines = [[self.paragraph(head[place], style) for place, style in zip(places, styles, strict=True)]]
        lines += [[self._cell(row[place]) for place in places] for row in rows]
        wide = 1.5
        share = _WIDTH / (wide * names + len(places) - names)
        widths = [share * (wide if position < names else 1) for position in range(len(places))]
        return _ruled(Table(lines, colWidths=widths, repeatRows=1))

    def _cell(self, cell: Cell) -> Paragraph:
        return self.paragraph(shortened(cell.text, _LONGEST_CELL), "number" if cell.exact else "cell")


def _indented(line: str) -> str:
    """Return `line` with its indentation in spaces that a paragraph keeps."""
    return "\N{NO-BREAK SPACE}" * (len(line) - len(line.lstrip())) + line.lstrip()


def _ruled(table: Table) -> Table:
    table.setStyle(
        TableStyle(
            [
                ("LINEBELOW", (0, 0), (-1, -1), 0.4, _LINE),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("LEFTPADDING", (0, 0), (-1, -1), 0),
                ("TOPPADDING", (0, 0), (-1, -1), 1.5),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
            ]
        )
    )
    table.hAlign = "LEFT"
    table.spaceAfter = table.spaceBefore = 4
    return table


def _number(canvas: Any, _: Any) -> None:
    canvas.setFont(_PLAIN, 7)
    canvas.setFillColor(_QUIET)
    canvas.drawRightString(A4[0] - _MARGIN, 26, f"{canvas.getPageNumber()}")


@functools.cache
def _fonts() -> None:
    for name, file in ((_PLAIN, "DejaVuSans.ttf"), (_BOLD, "DejaVuSans-Bold.ttf")):
        pdfmetrics.registerFont(TTFont(name, str(_FONTS / file)))


@functools.cache
def _glyphs() -> frozenset[int]:
    """Characters that both fonts have."""
    return frozenset.intersection(
        *(frozenset(pdfmetrics.getFont(name).face.charToGlyph) for name in (_PLAIN, _BOLD))
    )


@functools.cache
def _styles() -> dict[str, ParagraphStyle]:
    ink = HexColor(INK)
    plain = ParagraphStyle(
        "plain", fontName=_PLAIN, fontSize=9, leading=12.5, textColor=ink, spaceAfter=4, splitLongWords=1
    )
    cell = ParagraphStyle("cell", plain, fontSize=7, leading=9, spaceAfter=0)
    heading = ParagraphStyle("heading", plain, fontName=_BOLD, keepWithNext=1)
    verdict = ParagraphStyle("verdict", plain, fontName=_BOLD, spaceBefore=6, spaceAfter=1)
    return {
        "plain": plain,
        "finding": plain,
        "quiet": ParagraphStyle("quiet", plain, fontSize=8, leading=11, textColor=_QUIET),
        "warning": ParagraphStyle("warning", plain, leftIndent=8, textColor=HexColor("#A04700")),
        "title": ParagraphStyle("title", plain, fontName=_BOLD, fontSize=18, leading=22),
        "h2": ParagraphStyle("h2", heading, fontSize=13, leading=17, spaceBefore=12),
        "h3": ParagraphStyle("h3", heading, fontSize=9.5, leading=13, spaceBefore=8),
        "verdict": verdict,
        "cell": cell,
        "head": ParagraphStyle("head", cell, fontName=_BOLD),
        "number head": ParagraphStyle("number head", cell, fontName=_BOLD, alignment=TA_RIGHT),
        "number": ParagraphStyle("number", cell, alignment=TA_RIGHT),
        "code": ParagraphStyle("code", cell, textColor=ink, backColor=HexColor("#F6F7F9")),
    }
