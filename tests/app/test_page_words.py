"""No refusal that a page can show names keys of a spec: read from the code that raises them, one by one."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.widgets.page_words import page_words
from audits.options import options_of
from audits.runs.registry import AUDITS

ROOT = Path(__file__).resolve().parents[2]
_NOT_ON_PAGES = (
    "audits/cli",
    "audits/connect",
    "audits/notebook",
    "audits/arguments.py",
    "audits/findings.py",
    "audits/mlflow_evaluator.py",
    "audits/pytest_plugin.py",
    "audits/client",
    "audits/aliases",
    "audits/runs/gates",
    "audits/runs/storage",
    "audits/monitor",
    "audits/runs/registry.py",
    "audits/runs/source/fetch.py",
    "audits/models/in_memory.py",
    "audits/data/frames.py",
    "audits/data/adapters.py",
    "audits/data/samples",
    "audits/stats",
    "audits/transport",
    "audits/groups/metrics.py",
    "app/serving",
    "app/workspaces/auth.py",
)
_A_KEY = re.compile(
    r"\b(?:data|model|read|compare|audits|roles|threshold|flipset|groups|explain|barycenter|recourse|mitigation"
    r"|outcome_transport|rule_sets|loss_ratio|sensitivity)(?:\[\d+\])?\.[a-z]|\b[a-z]+_[a-z_]+\b|[`{}]"
)
_A_PROGRAM = re.compile(r"skl2onnx|onnx\.save|audits\.check")  # what is to be written in one's own
_NO_PAGE_SAYS = (  # what a page's controls cannot give, what an endpoint has to speak, what is typed as YAML
    'or {"not": value}',
    "an object {class: probability}",
    "it is sent {X:",
    "as {score: column} or {label: column}",
    "write data: {path: X}",
    "or {column: {value: number}}",
    "such as {flipset: {…}}",
    "such as {sex: female}",
)


def _text(node: ast.expr) -> str | None:
    """Return a literal, with X for what is put in; None where nothing is literal."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
        if ast.unparse(node).startswith(("f'{where}.", "f'{path}.")):  # a key of a section
            parts[0] = "data"
        return "".join(map(str, parts)).replace("'X'", "X")
    return None


def _refusals() -> Iterator[tuple[str, str]]:
    """Return file and line, and the sentence, of each refusal whose words stand where it is raised."""
    for folder in ("audits", "app"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            short = path.relative_to(ROOT).as_posix()
            if short.startswith(_NOT_ON_PAGES):
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "InputError"):
                    continue
                where, *rule = [_text(each) for each in node.args[:2]]
                advice = [_text(each.value) for each in node.keywords if each.arg == "advice"]
                advice += [_text(each) for each in node.args[3:4]]
                said = "; ".join(
                    [f"{where or 'This'} {(rule or [''])[0] or 'is wrong'}", *filter(None, advice)]
                )
                if not _A_PROGRAM.search(said) and not any(each in said for each in _NO_PAGE_SAYS):
                    yield f"{short}:{node.lineno}", f"{said}."


REFUSALS = list(_refusals())


def test_refusals_are_found() -> None:
    assert len(REFUSALS) > 300


@pytest.mark.parametrize(("place", "sentence"), REFUSALS, ids=[place for place, _ in REFUSALS])
def test_a_refusal_names_no_key(place: str, sentence: str) -> None:
    told = page_words(sentence)
    assert not _A_KEY.search(told), told


@pytest.mark.parametrize("audit", list(AUDITS))
def test_options_are_told_by_what_stands_above_their_controls(audit: str) -> None:
    for option in options_of(AUDITS[audit].options):
        for where in (f"audits[0].{audit}.{option.name}", f"{audit}.{option.name}"):
            told = page_words(f"{where} must be above 0, got -1.")
            assert told.startswith("The choice “"), told
            assert not _A_KEY.search(told), told


def test_labels_stand_on_the_pages() -> None:
    """`other_options` words what a page does not draw itself by the record, as `any_audit_page` does."""
    pages = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "app").rglob("*.py")
        if path.name != "page_words.py"
    )
    labels = [
        label
        for name in AUDITS.ours
        if f'any_audit_page("{name}")' not in pages
        for option, label in AUDITS[name].pages.labels.items()
        if option in _drawn(name, pages)
    ]
    assert len(labels) > 35
    assert not [label for label in labels if label not in pages]


def _drawn(name: str, pages: str) -> set[str]:
    """Return the options that the page of an audit draws itself."""
    if f'other_options("{name}"' not in pages:
        return set(AUDITS[name].pages.labels)
    module = importlib.import_module(f"app.{name}.choices")
    return getattr(module, "_DRAWN", {"source", "target", "explainers"})
