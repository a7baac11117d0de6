"""Imports point one way: this reads them and fails when an arrow runs backwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

AUDITS = tuple(sorted(path.parent.name for path in (ROOT / "audits").glob("*/record.py")))
COUPLED = "barycenter"  # flipset's matching and reports, through another coupling

# lower layers first; a package may import only from layers below its own
LAYERS = (
    (
        "errors",
        "text",
        "plugins",
        "parallel",
        "aliases",
        "checks",
        "progress",
        "results",
        "threads",
        "arrow_io",
        "records",
        "options",
        "report_kinds",
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
BASE = {
    "errors": 0,
    "text": 0,
    "parallel": 0,
    "aliases": 0,
    "arrow_io": 0,
    "progress": 0,
    "threads": 0,
    "plugins": 1,
    "checks": 1,
    "results": 2,
    "options": 2,
    "records": 2,
}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> frozenset[str]:
    """Every absolute module name that a file imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
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
        read = {name: name.split(".")[0] for name in imports(path)}
        forbidden = {"streamlit"}
        if (
            path.name != "model_server.py"
        ):  # run by the user's own Python on the user's own model, never by ours
            forbidden |= {"pickle", "joblib"}
        draws = home in {"drawing", "reports"} or "figures" in path.with_suffix("").parts
        if not draws and path.stem != "records":  # only figures and reports draw
            forbidden.add("plotly")
        found += told(
            path, *(name for name, root in read.items() if root in forbidden or "model_server" in name)
        )
        if not draws and path.stem not in {
            "exhibits",
            "sections",
        }:  # what computes imports nothing that draws
            drawn = [
                name for name in read if "figures" in name.split(".") or name.startswith("audits.drawing")
            ]
            found += told(path, *drawn)
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


def modules() -> dict[str, Path]:
    """Every module of the project by its name; a package by its own."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for folder in ("audits", "app")
        for path in sources(folder)
    }


@cache
def arrows() -> dict[str, set[str]]:
    """Module to the modules it imports from: inside functions and for type checkers, too.

    A name that a package hands on counts as imported from the module that defines it; what packages
    themselves import is left out, for they do nothing but hand on.
    """
    files = modules()
    trees = {name: parsed(path) for name, path in files.items()}
    stubs = {name: path.with_suffix(".pyi") for name, path in files.items() if path.name == "__init__.py"}
    faces = {name: parsed(stub) if stub.is_file() else trees[name] for name, stub in stubs.items()}
    handed = {(face, what): home for face, tree in faces.items() for home, what in _imported(tree, face)}

    def home(module: str, what: str | None) -> str | None:
        if what and f"{module}.{what}" in files:
            return f"{module}.{what}"
        seen = set()
        while what and (module, what) in handed and module not in seen:
            seen.add(module)
            module = handed[module, what]
        return module if module in files else None

    return {
        name: {to for module, what in _imported(tree, name) if (to := home(module, what)) and to != name}
        for name, tree in trees.items()
        if name not in stubs
    }


def _imported(tree: ast.Module, home: str) -> Iterator[tuple[str, str | None]]:
    """Module and name of every import; stubs of packages import relatively."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = f"{home}.{node.module}" if node.level else str(node.module)
            yield from ((module, alias.name) for alias in node.names)


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """One circle of the graph from a module back to it; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_circles_of_imports_inside_packages_either():
    assert not circle(arrows()), "these import each other; move what both need below both"


def reached_into(tree: ast.Module) -> set[str]:
    """Names with an underscore before them that a module takes from another one of the project."""
    ours = [(home, name) for home, name in _imported(tree, "") if home.split(".")[0] in {"audits", "app"}]
    taken = {f"{home}.{name}" for home, name in ours if name and name.startswith("_")}
    modules = {str(name) for _, name in ours}
    taken |= {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
        and node.attr.startswith("_")
    }
    return {name for name in taken if not name.endswith("__")}


@pytest.mark.parametrize("folder", ["audits", "app"])
def test_nobody_uses_what_another_module_keeps_to_itself(folder: str):
    found = {str(path.relative_to(ROOT)): reached_into(parsed(path)) for path in sources(folder)}
    assert not {path: names for path, names in found.items() if names}, "give these names without underscore"


# words that generic code has for something else, or where it means that one audit; the lists may only shrink
A_KEY = "a key of what processes, pages or services tell each other, of people's groups or sensitivities"
NAMED = {
    "app/data_model/decision_words.py": ({"groups"}, A_KEY),
    "app/data_model/questions.py": ({"groups"}, A_KEY),
    "app/tables/handles.py": ({"groups"}, A_KEY),
    "audits/remedies.py": ({"mitigation"}, "one call from Python that is this audit of your own estimator"),
    "app/tables/server.py": ({"groups"}, A_KEY),
    "app/monitor/alarms.py": ({"sensitivity"}, A_KEY),
    "app/monitor/dashboard.py": ({"sensitivity"}, A_KEY),
    "app/serving/ingestion.py": ({"sensitivity"}, A_KEY),
    "app/serving/monitor_api.py": ({"groups"}, A_KEY),
    "app/tour/story.py": (
        {"groups", "rule_sets", "flipset", "attribute_swap"},
        "the demo tells of these four, in this order",
    ),
    "app/tour/screens.py": (
        {"groups", "rule_sets", "flipset", "attribute_swap"},
        "each screen of the demo says which audit it is of",
    ),
    "app/pages.py": (set(AUDITS), "which question each answers, in the order of pages"),
    "audits/cli/monitor.py": ({"sensitivity"}, A_KEY),
    "audits/connect.py": ({"groups"}, "what Fairlearn's MetricFrame does, by the audit that does it"),
    "audits/data/preprocessing/column_names.py": ({"groups"}, "what people call a column of theirs"),
    "audits/findings.py": (set(AUDITS), "the type of each one's result, for who reads it by mypy"),
    "audits/monitor/alarms.py": ({"groups", "sensitivity"}, A_KEY),
    "audits/monitor/bundle.py": ({"groups", "sensitivity"}, A_KEY),
    "audits/monitor/detectors.py": ({"groups", "sensitivity"}, A_KEY),
    "audits/monitor/profile.py": ({"sensitivity"}, A_KEY),
    "audits/monitor/scoring.py": ({"sensitivity"}, A_KEY),
    "audits/monitor/storage.py": ({"sensitivity"}, A_KEY),
    "audits/monitor/windows.py": ({"groups"}, A_KEY),
    "audits/runs/registry.py": (set(AUDITS), "the one list, in the order of pages"),
}
MONITOR = "a monitor measures everyone who comes in as a sensitivity audit did"
IMPORTED = {
    "app/examples.py": ({"groups"}, "what the card of an example shows"),
    "app/tour/story.py": (
        {"groups", "rule_sets", "flipset", "attribute_swap"},
        "the demo's numbers come from these four results",
    ),
    "app/glance": ({"groups"}, "the groups of At a glance, ranked and as a table of badges"),
    "app/views/glance.py": ({"groups"}, "the groups of At a glance, ranked and as a table of badges"),
    "app/widgets/choices/roles.py": ({"recourse"}, "the roles that its paper gives German credit"),
    "app/saved/runs.py": ({"groups"}, "the tables that laws ask for are of rates by group"),
    "audits/connect.py": ({"groups"}, "Fairlearn's metrics by its own"),
    "audits/notebook.py": ({"groups"}, "custom metrics are metrics of groups"),
    "audits/remedies.py": ({"mitigation"}, "one call from Python that is this audit of your own estimator"),
    "audits/findings.py": (set(AUDITS), "the type of each one's result, for who reads it by mypy"),
    "audits/runs/gates/rules.py": ({"groups"}, "custom metrics are names of numbers"),
    "audits/reports/contents.py": ({"groups"}, "the groups of At a glance, on page one"),
    "audits/reports/laws": ({"groups"}, "the tables that laws ask for are of rates by group"),
    "audits/monitor": ({"sensitivity"}, MONITOR),
    "audits/runs/comparison/treated_model.py": (
        {"mitigation"},
        "what mitigation leaves behind, where models are compared",
    ),
}


def named_audits(tree: ast.Module) -> set[str]:
    """Audits that a module names in so many letters."""
    return {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)} & set(AUDITS)


def imported_audits(path: Path) -> set[str]:
    """Audits out of whose rooms, or whose pages', a module imports."""
    parts = (name.split(".") for name in imports(path))
    return {each[1] for each in parts if each[0] in {"audits", "app"} and len(each) > 1} & set(AUDITS)


def generic() -> Iterator[tuple[str, Path]]:
    """Modules that belong to no audit, with where they are."""
    for path in [*sources("audits"), *sources("app")]:
        where = path.relative_to(ROOT)
        if not set(AUDITS) & set(where.with_suffix("").parts):
            yield where.as_posix(), path


def test_records_are_the_only_list_of_audits():
    found = {where: names for where, path in generic() if (names := named_audits(parsed(path)))}
    allowed = {where: names for where, (names, _) in NAMED.items()}
    assert found == allowed, "state in the audits' records what differs between them, and loop over these"


def test_generic_code_knows_no_audit_by_its_room():
    found: dict[str, set[str]] = {}
    for where, path in generic():
        if names := imported_audits(path):
            place = next((each for each in IMPORTED if f"{where}/".startswith(f"{each}/")), where)
            found.setdefault(place, set()).update(names)
    allowed = {where: names for where, (names, _) in IMPORTED.items()}
    assert found == allowed, "have the record name what is wanted of its room"


def classes() -> dict[str, list[str]]:
    """Where the classes of each name stand that other modules may use."""
    found: dict[str, list[str]] = {}
    for path in [*sources("audits"), *sources("app")]:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    return found


def test_no_two_classes_have_one_name():
    """A stranger who looks for a class finds one."""
    assert not {name: where for name, where in classes().items() if len(where) > 1}, "say which it is"


MAX_PARAMETERS, LONGEST_BODY = 8, 60
SAID = "every argument is one thing that its user may say, with a default"
PARTS = "each is a part of what was found, given by name to what packs or words all of them, its one caller"
ARRAYS = "arrays of the same people beside each other, and how they are drawn from: it is called in one place"
MANY = {
    # functions with more parameters, each with its reason; the list may only get shorter
    "audits/cli/commands.py run": "an option of the command each, as Typer reads them",
    "audits/cli/monitor.py window": "an option of the command each, as Typer reads them",
    "app/widgets/people/row_choice.py choose_row": SAID,
    "audits/loss_ratio/attack/flow.py gradient_flow": SAID,
    "audits/loss_ratio/attack/search.py black_box_flow": SAID,
    "audits/notebook.py audit": SAID,
    "audits/remedies.py mitigate": SAID,
    "audits/outcome_transport/matching/outcomes.py match_outcomes": SAID,
    "audits/outcome_transport/matching/resampling.py resample": ARRAYS,
    "audits/monitor/monitors.py create": SAID,
    "audits/stats/verdicts.py judge": SAID,
    "audits/sensitivity/inference.py judge_groups": PARTS,
    "audits/sensitivity/measurement/blackbox.py measure_blackbox": "audit and bundle share no context",
    "audits/sensitivity/match_sets/sets.py match_set": SAID,
    "audits/sensitivity/assembly.py pack": PARTS,
    "audits/transport/maps/protocol.py fit": SAID,
    "audits/transport/maps/sinkhorn.py solve": SAID,
    "audits/transport/maps/validation.py exact_cost": SAID,
}
PACKED = "most of it is one call that fills the fields of a result, a line each"
STEPS = "named steps one after another, each of which needs what those before it found"
LONG = {
    # functions with longer bodies; likewise
    "app/widgets/audit_page.py audit_page": "a page from top to bottom, ended where something lacks",
    "audits/data/preprocessing/build.py build_data": PACKED,
    "audits/flipset/audit.py flipset": PACKED,
    "audits/flipset/people_tables.py people_tables": "four tables of the same people, column by column",
    "audits/notebook.py audit": STEPS,
    "audits/rule_sets/assembly.py pack": PACKED,
}


def large_functions(path: Path) -> Iterator[tuple[str, bool, bool]]:
    """Yield functions: their names, and whether they take much, or are long without their docstring."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = node.args
            own = [each for each in node.body if not _is_docstring(each)] or node.body
            lines = (node.end_lineno or 0) - own[0].lineno + 1
            many = len([*given.posonlyargs, *given.args, *given.kwonlyargs])
            yield node.name, many > MAX_PARAMETERS, lines > LONGEST_BODY


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def test_functions_are_small_but_for_those_with_a_reason():
    many, long = set(), set()
    for path in [*sources("audits"), *sources("app")]:
        for name, takes_many, is_long in large_functions(path):
            where = f"{path.relative_to(ROOT)} {name}"
            many |= {where} if takes_many else set()
            long |= {where} if is_long else set()
    for found, allowed in ((many, set(MANY)), (long, set(LONG))):
        assert not found - allowed, "part these, or give what they take as one"
        assert not allowed - found, "these are small now: strike them from the list"
