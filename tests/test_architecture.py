"""Imports point one way: this reads them and fails when an arrow runs backwards."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
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
def imports(path: Path) -> frozenset[str]:
    """Every module name that a file imports, with and without what it takes from it; inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return frozenset(found)


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
        if path.name != "model_server.py":  # the user's own Python runs it on the user's own model
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


def test_no_circles_of_imports_inside_packages_either():
    paths = [path for path in (*sources("audits"), *sources("app")) if path.name != "__init__.py"]
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}
    # prepare() names a circle; what both need belongs below both
    TopologicalSorter(
        {name: imports(path) & modules.keys() - {name} for name, path in modules.items()}
    ).prepare()


def test_nobody_uses_what_another_module_keeps_to_itself():
    ours = {path: imports(path) for folder in ("audits", "app") for path in sources(folder)}
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, names in ours.items()
        for name in names
        if name.split(".")[0] in {"audits", "app"}
        and name.split(".")[-1].startswith("_")
        and "__" not in name
    ]
    assert not found, "\n".join(found)  # give these names without underscore
