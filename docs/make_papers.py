"""Write docs/papers.md, the papers' every numbered item beside ours, from docs/papers.yaml and the options.

Run it as ``python docs/make_papers.py``; a test holds the page to what it makes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from audits.runs.registry import AUDITS  # noqa: E402

_HEAD = """# The five papers, item by item

`make docs` writes this page from `docs/papers.yaml`. It lists every definition, theorem, algorithm, figure
and table that has a number in a paper, and every result in them: where it is in the code, what was
published, what comes out here, with which data and seeds, whether it is reproduced, why they differ, and the
test that checks it. A dash under *published* means that the paper states no number. To run an experiment
such as `relative-3a`, use `python -m benchmarks.papers NAME`. How each audit departs from its paper is at the
top of its package.

*Reproduced* has one of five values. `yes`: the number or the stated order. `pattern`: the direction, but not
the digits. `in part`: some of the numbers. `no`. `not run`, with the reason.
"""


class Row(NamedTuple):
    """One numbered item of a paper."""

    item: str
    what: str
    where: tuple[str, ...]
    published: str
    ours: str
    drawn: str
    reproduced: str
    why: str
    test: str


def papers() -> dict[str, dict[str, Any]]:
    """Return each paper by name: ``cites``, ``room``, ``text`` and its ``rows``."""
    stated = yaml.safe_load((HERE / "papers.yaml").read_text(encoding="utf-8"))
    for paper in stated.values():
        rows: list[Row] = []
        for item, (what, where, *rest) in paper.pop("items").items():
            told = [str(cell) for cell in rest]
            if len(told) == 4:  # the paper states no number
                told[2:2] = "–", "–"
            for place, cell in enumerate(told):
                if cell == "likewise":  # as in the row above
                    told[place] = rows[-1][3 + place]
            rows.append(Row(item, what, tuple(where.split(", ")), *told))
        paper["rows"] = rows
    return stated


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for name, paper in papers().items():
        audit = AUDITS[paper["room"]]
        parts += [
            f"## {name}",
            f"{paper['cites']}. The audit is `{audit.name}`: *{audit.question}*",
            "| item | what | where | published | here | data and seeds | reproduced | why they differ "
            "| test |\n"
            "|---|---|---|---|---|---|---|---|---|\n" + "\n".join(_line(row) for row in paper["rows"]),
        ]
    return "\n\n".join(parts) + "\n"


def _line(row: Row) -> str:
    where = ", ".join(f"[{Path(path).name}](../{path})" for path in row.where)
    path, _, test = row.test.partition("::")
    held = f"[{test or Path(path).name}](../{path})"
    cells = [row.item, row.what, where, *row[3:-1], held]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    (HERE / "papers.md").write_text(page(), encoding="utf-8")
