"""Imports point one way: this reads them and fails when an arrow runs backwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

AUDITS = tuple(sorted(path.parent.name for path in (ROOT / "audits").glob("*/record.py")))
COUPLED = "barycenter"  # flipset's matching and reports, through another coupling

# lower layers first; a package may import only from layers below its own
LAYERS = (
    (
        *("errors", "text", "plugins", "parallel", "aliases", "checks", "progress", "results", "threads"),
        *("arrow_io", "records", "options", "report_kinds"),
    ),
    ("stats",),
    ("data",),
    ("models",),
    ("transport",),
    ("drawing",),
    ("subgroups",),
    tuple(name for name in AUDITS if name != COUPLED),
    (COUPLED,),
    ("comparison",),
    ("runs",),
    ("monitor",),
    ("reports",),
    ("arguments", "findings"),
    ("cli", "notebook", "pytest_plugin", "remedies"),
    ("connect",),
    ("mlflow_evaluator",),
    ("__main__", "__init__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# the same inside the lowest layer
LOWEST = (
    ("errors", "text", "parallel", "aliases", "arrow_io", "progress", "threads"),
    ("plugins", "checks"),
    ("results", "options", "records"),
)
BASE = {name: level for level, names in enumerate(LOWEST) for name in names}


@cache
def nodes(path: Path) -> tuple[list[ast.Import | ast.ImportFrom], list[ast.Attribute]]:
    """Every import of a file and every attribute that it takes, inside functions too."""
    every = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    imported = [node for node in every if isinstance(node, (ast.Import, ast.ImportFrom))]
    return imported, [node for node in every if isinstance(node, ast.Attribute)]


def imported(path: Path, home: str = "") -> Iterator[tuple[str, str | None]]:
    """Module and name of every import; stubs of packages import relatively."""
    for node in nodes(path)[0]:
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        else:
            module = f"{home}.{node.module}" if node.level else str(node.module)
            yield from ((module, alias.name) for alias in node.names)


def imports(path: Path) -> frozenset[str]:
    """Every absolute module name that a file imports."""
    assert not any(getattr(node, "level", 0) for node in nodes(path)[0]), f"{path}: relative import"
    found = list(imported(path))
    return frozenset({module for module, _ in found} | {f"{module}.{name}" for module, name in found if name})


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def test_every_package_has_a_place():
    names = {path.stem if path.is_file() else path.name for path in (ROOT / "audits").iterdir()}
    assert names - {"__pycache__", "py"} <= set(LEVEL), "add the new package to LAYERS"


def told(path: Path, *names: str) -> list[str]:
    return [f"{path.relative_to(ROOT)} imports {name}" for name in names]


def test_audits_import_downwards():
    found = []
    for path in sources("audits"):
        home = path.relative_to(ROOT / "audits").parts[0].removesuffix(".py")
        for name in sorted(imports(path)):
            parts = name.split(".")
            other = parts[1] if len(parts) > 1 else ""
            if parts[0] == "app":  # the package knows nothing of it
                found += told(path, name)
            if parts[0] != "audits" or other == home or other not in LEVEL:
                continue
            lower = LEVEL[other] < LEVEL[home]
            if not lower and not (home in BASE and other in BASE and BASE[other] < BASE[home]):
                found += told(path, name)
    assert not found, "\n".join(found)  # what is imported must stand below


def test_who_may_import_what():
    found = []
    for path in sources("audits"):
        home = path.relative_to(ROOT / "audits").parts[0]
        forbidden = {"streamlit"}
        if (
            path.name != "model_server.py"
        ):  # run by the user's own Python on the user's own model, not by ours
            forbidden |= {"pickle", "joblib"}
        draws = home in {"drawing", "reports"} or "figures" in path.with_suffix("").parts
        if not draws and path.stem != "records":  # only figures and reports draw
            forbidden.add("plotly")
        for name in imports(path):
            parts = name.split(".")
            # what computes imports nothing that draws
            drawn = "figures" in parts or name.startswith("audits.drawing")
            drawn = drawn and not draws and path.stem not in {"exhibits", "sections"}
            if parts[0] in forbidden or "model_server" in name or drawn:
                found += told(path, name)
    assert not found, "\n".join(found)


def test_the_app_computes_nothing():
    found = []
    for path in sources("app"):
        forbidden = {"torch", "sklearn", "onnxruntime", "ot", "scipy", "pickle", "joblib"}
        if "views" in path.parts:
            forbidden |= {"numpy", "pandas"}
        found += told(path, *(name for name in imports(path) if name.split(".")[0] in forbidden))
        if "session_state" in path.read_text(encoding="utf-8") and path.name != "state.py":
            found.append(f"{path.relative_to(ROOT)} touches the session's state, which state.py alone owns")
    assert not found, "\n".join(found)


def reached_into(path: Path) -> set[str]:
    """Names with an underscore before them that a module takes from another one of the project."""
    ours = [(home, name) for home, name in imported(path) if home.split(".")[0] in {"audits", "app"}]
    taken = {f"{home}.{name}" for home, name in ours if name and name.startswith("_")}
    modules = {str(name) for _, name in ours}
    for node in nodes(path)[1]:
        if isinstance(node.value, ast.Name) and node.value.id in modules and node.attr.startswith("_"):
            taken.add(f"{node.value.id}.{node.attr}")
    return {name for name in taken if not name.endswith("__")}


def test_nobody_uses_what_another_module_keeps_to_itself():
    found = {path: reached_into(path) for path in [*sources("audits"), *sources("app")]}
    assert not {name: taken for name, taken in found.items() if taken}, "give these names without underscore"
