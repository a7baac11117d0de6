"""Runs those of examples/*.py that consist of cells (``# %%``); gives pages and notebooks with answers."""

from __future__ import annotations

import ast
import contextlib
import html
import io
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audits.drawing.style import KEPT_HERE
from audits.drawing.svg import media

ROOT = Path(__file__).resolve().parents[1]
MARKDOWN = "[markdown]"
PLOTLY = "application/vnd.plotly.v1+json"


@dataclass
class Cell:
    """A cell: prose, or code with what it printed and what its last line is worth, by media type."""

    text: str
    prose: bool
    printed: str = ""
    shown: dict[str, Any] = field(default_factory=dict)


def cells(path: Path) -> list[Cell]:
    """Return the cells of a script."""
    found = []
    for part in re.split(r"^# %%", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        kind, _, body = part.partition("\n")
        prose = kind.strip() == MARKDOWN
        text = re.sub(r"^# ?", "", body, flags=re.MULTILINE) if prose else body
        found.append(Cell(text.strip(), prose))
    return found


def executed(path: Path) -> list[Cell]:
    """Return the cells of a script after they have run, in a folder of their own."""
    found, names, before = cells(path), {"__name__": "__worked__"}, Path.cwd()
    with tempfile.TemporaryDirectory(prefix="evenhand-worked-") as folder:
        os.chdir(folder)
        sys.path.insert(0, str(ROOT))  # `import evenhand` of a checkout
        try:
            for cell in found:
                if not cell.prose:
                    _run(cell, path, names)
        finally:
            sys.path.remove(str(ROOT))
            os.chdir(before)
    return found


def _run(cell: Cell, path: Path, names: dict[str, Any]) -> None:
    tree, printed = ast.parse(cell.text), io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, path.name, "exec"), names)  # noqa: S102 - our own examples
        value = None if last is None else eval(compile(ast.Expression(last.value), path.name, "eval"), names)  # noqa: S307
    cell.printed = printed.getvalue()
    if value is not None:
        cell.shown = _shown(value)


def _shown(value: Any) -> dict[str, Any]:
    if hasattr(value, "to_plotly_json"):
        return media(value)
    shown = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        shown["text/html"] = value._repr_html_()
    return shown


def script_of(key: str, figure: dict[str, Any]) -> str:
    """Return the script that draws a figure into the element `key`, on the page's own ground."""
    figure["layout"] |= {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)"}
    drawn = json.dumps({**figure, "config": {**KEPT_HERE, "responsive": True}})
    return f'document.getElementById("{key}").replaceChildren();\nPlotly.newPlot("{key}", {drawn})\n'


def page(name: str, found: list[Cell]) -> tuple[str, dict[str, str]]:
    """Return a page in Markdown, and the scripts that draw its figures, by where they lie."""
    lines: list[str] = []
    scripts: dict[str, str] = {}
    for place, cell in enumerate(found):
        if cell.prose:
            lines += [cell.text, ""]
            if not place:
                lines += [f"[This page as a notebook]({name}.ipynb){{download}}", ""]
            continue
        lines += ["```python", cell.text, "```", ""]
        if cell.printed:
            lines += [
                f"<blockquote>{html.escape(each)}</blockquote>" for each in cell.printed.splitlines()
            ] + [""]
        if PLOTLY in cell.shown:
            key = f"{name}-{place}".replace("_", "-")
            lines += [f'<div id="{key}" class="figure"></div>']
            lines += [f'<script src="../scripts/{key}.js"></script>', ""]
            scripts[f"scripts/{key}.js"] = script_of(key, cell.shown[PLOTLY])
        elif "text/html" in cell.shown:
            lines += [f'<div class="scroll">{" ".join(cell.shown["text/html"].split())}</div>', ""]
        elif cell.shown:
            lines += [f"<pre>{html.escape(cell.shown['text/plain'])}</pre>", ""]
    return "\n".join(lines), scripts


def notebook(found: list[Cell]) -> str:
    """Return the cells as a notebook (nbformat 4.5), with what they answered."""
    made, run = [], 0
    for place, cell in enumerate(found):
        source = cell.text.splitlines(keepends=True)
        if cell.prose:
            made.append({"cell_type": "markdown", "id": f"cell-{place}", "metadata": {}, "source": source})
            continue
        run += 1
        outputs: list[dict[str, Any]] = []
        if cell.printed:
            outputs.append(
                {"output_type": "stream", "name": "stdout", "text": cell.printed.splitlines(keepends=True)}
            )
        if cell.shown:
            outputs.append(
                {"output_type": "execute_result", "execution_count": run, "metadata": {}, "data": cell.shown}
            )
        made.append(
            {
                "cell_type": "code",
                "id": f"cell-{place}",
                "metadata": {},
                "execution_count": run,
                "source": source,
                "outputs": outputs,
            }
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
