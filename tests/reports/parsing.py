"""A report's HTML read back: exact numbers by table, every text, and what could run."""

from __future__ import annotations

from html.parser import HTMLParser


class Tables(HTMLParser):
    """The exact numbers in a report's tables, by the table's label, and every text."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[list[float | None]]]] = {}
        self.scripts = 0
        self.text: list[str] = []
        self._open: list[list[list[float | None]]] | None = None
        self._inside = ""

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self._inside = tag
        if tag == "script":
            self.scripts += 1
        assert not any(name.startswith("on") for name in found), found
        assert tag not in {"img", "iframe", "object", "embed", "link", "form", "base"}
        if tag == "table":
            self._open = self.tables.setdefault(found.get("aria-label", ""), [])
        elif tag == "tr" and self._open is not None:
            self._open.append([])
        elif tag == "td" and "data-exact" in found and self._open is not None:
            self._open[-1].append(
                [None if part == "-" else float(part) for part in found["data-exact"].split()]
            )

    def handle_data(self, data):
        if self._inside not in {"script", "style"}:
            self.text.append(data)

    def handle_endtag(self, tag):
        self._inside = ""
