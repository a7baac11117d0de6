"""Writes what docs/architecture.md takes from the records: ``python docs/make_architecture.py``.

What stands between the two marks there is made here, and nowhere else; a test holds that it is up to date.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from audits.records import Audit  # noqa: E402
from audits.runs.registry import AUDITS  # noqa: E402
from tests import test_architecture  # noqa: E402

PAGE = ROOT / "docs" / "architecture.md"
RECORDS = "<!-- made from the records: make docs -->", "<!-- end of what is made -->"
LAYERS = "<!-- layers: make docs -->", "<!-- end of layers -->"
OF_PAGES = ("app/workspaces", "app/drafts", "app/tables", "app/widgets", "app/serving")
ROOMS = ("audits/data", "audits/models", "audits/runs", *OF_PAGES)
SHARED = "<!-- shared rooms: make docs -->", "<!-- end of shared rooms -->"


def tables() -> str:
    """Return a section for each of our audits: where its numbers come from, exhibit by exhibit."""
    return "\n\n".join(_audit(AUDITS[name]) for name in AUDITS.ours)


def _audit(audit: Audit) -> str:
    lines = [
        f"### {audit.title}: `{audit.name}`",
        "",
        f"*{audit.question}*",
        "",
        f"Options: {_link(audit.options.__module__)}. {_place(audit.runs)} computes and returns "
        f"{_place(audit.result)}. {_place(audit.presents)} says what is shown:",
        "",
        "| exhibit | drawn by | its numbers |",
        "|---|---|---|",
    ]
    lines += [f"| {heading} | {figure} | {table} |" for heading, figure, table in exhibits(audit)]
    return "\n".join(lines)


def exhibits(audit: Audit) -> list[tuple[str, str, str]]:
    """Return heading, figure and table of every exhibit, as the record's own module states them."""
    module = str(audit.presents).partition(":")[0]
    tree = ast.parse(_file(module).read_text(encoding="utf-8"))
    found = []
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        meant = _Meant(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Exhibit":
                arguments = [part for each in node.args for part in _spread(each, module)]
                given = dict(zip(("key", "heading", "caption", "figure", "table"), arguments, strict=False))
                given |= {each.arg: each.value for each in node.keywords if each.arg}
                shown = (_code(meant.visit(given[each])) for each in ("figure", "table"))
                found.append((node.lineno, _words(given["heading"]), *shown))
    return [row[1:] for row in sorted(found)]


class _Meant(ast.NodeTransformer):
    """Puts what a function gave a name in the place of that name: ``table`` tells nobody where to look."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self._given: dict[str, ast.expr] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                left, right = (getattr(each, "elts", [each]) for each in (node.targets[0], node.value))
                self._given |= {
                    name.id: value
                    for name, value in zip(left, right, strict=False)
                    if isinstance(name, ast.Name)
                }
            elif isinstance(node, ast.NamedExpr):
                self._given[node.target.id] = node.value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._given.get(node.id, node)


def _spread(node: ast.expr, module: str) -> list[ast.expr]:
    """Return an argument; heading and caption where both come as ``*SAID[key]`` or ``*said(key, …)``."""
    if not isinstance(node, ast.Starred):
        return [node]
    stated, loaded = node.value, importlib.import_module(module)
    if isinstance(stated, ast.Subscript):
        words = loaded.SAID[ast.literal_eval(stated.slice)]
    else:
        words = loaded.heading_and_caption(ast.literal_eval(stated.args[0]), "…")  # type: ignore[attr-defined]
    return [ast.Constant(each) for each in words]


def _words(node: ast.expr) -> str:
    """Return a heading, with … for what a result fills in."""
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        return "".join(map(str, parts))
    return str(node.value) if isinstance(node, ast.Constant) else f"`{_brief(ast.unparse(node))}`"


def _code(node: ast.expr) -> str:
    return f"`{_brief(ast.unparse(node.body if isinstance(node, ast.Lambda) else node))}`"


def _brief(code: str) -> str:
    quoted = code.replace("'", '"')  # versions of Python choose other quotes
    flat = re.sub(r"\s+", " ", quoted).replace("|", "\\|")
    return flat if len(flat) <= 90 else flat[:89] + "…"


def _place(what: object) -> str:
    module, _, name = str(what).partition(":")
    return f"`{name}` in {_link(module)}"


def _link(module: str) -> str:
    path = _file(module).relative_to(ROOT).as_posix()
    return f"[{path}](../{path})"


def _file(module: str) -> Path:
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        raise LookupError(module)
    return Path(found.origin)


def layers() -> str:
    """Return the layers of packages, lowest first, as the test of the architecture holds them."""
    return "\n".join(
        f"{place}. {', '.join(f'`{name}`' for name in names)}"
        for place, names in enumerate(test_architecture.LAYERS, start=1)
    )


def shared() -> str:
    """Return what lies in each folder of the rooms that audits share, as its own first sentence says."""
    lines = ["| folder | what is in it |", "|---|---|"]
    for folder in (ROOT / room for room in ROOMS):
        for file in [folder / "__init__.py", *sorted(folder.glob("*/__init__.py"))]:
            says = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            lines.append(
                f"| `{file.parent.relative_to(ROOT)}/` | {' '.join(says.split(chr(10) * 2)[0].split())} |"
            )
    return "\n".join(lines)


def page(text: str) -> str:
    """Return the page `text` with what is made as it is now."""
    for (begin, end), made in ((LAYERS, layers()), (SHARED, shared()), (RECORDS, tables())):
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n\n{made}\n\n{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
