"""Every choice on every page is in the link, or deliberately not: for each that is not, the reason.

Read from the source: a control that is tied to the address says ``**state.choice(…)``, itself or through a
function of its page that returns that. What is new has to take a side here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CONTROLS = {
    *("checkbox", "color_picker", "data_editor", "date_input", "feedback", "file_uploader", "multiselect"),
    *("number_input", "pills", "radio", "segmented_control", "select_slider", "selectbox", "slider"),
    *("text_area", "text_input", "time_input", "toggle"),
}

IN_THE_DRAFT = "it edits data and model of the workspace, which the link names"
BY_CALLBACK = "they are in the address, by its callback"
A_FORM = "it is sent off by a button, once; nothing that is shown depends on it"
A_FILE = "a file cannot be in an address"
A_TABLE = "a table that is edited is too long for an address; the run that the link names has what came of it"

NOT_IN_THE_LINK = {
    "app/compare/choices.py choose_model 'Second model'": IN_THE_DRAFT,
    "app/data_model/": IN_THE_DRAFT,
    "app/monitor/": A_FORM,
    "app/widgets/choices/roles.py": IN_THE_DRAFT,
    "app/recourse/questions.py _rows": "answers go into the choices at the side, which are in the link",
    "app/widgets/results/figure_card.py _tools 'Table'": "unfolded numbers are the reader's own",
    "app/widgets/results/figure_card.py _select_people 'Select people'": BY_CALLBACK,
    "app/widgets/people/selected.py _make_group": A_FORM,
    "app/saved/runs.py choose_run 'Open'": "the run is in the address, under run, by its callback",
    "app/saved/runs.py keep_section": A_FORM,
    "app/saved/runs.py erase_section": A_FORM,
    "app/saved/runs.py share_section": A_FORM,
    "app/saved/runs.py _uploads": A_FORM,
    "app/flipset/bars.py marginals_section 'Show more features'": "how long a list is, is the reader's own",
    "app/loss_ratio/result.py _tolerance": "how far it reaches depends on the result",
    "app/outcome_transport/choices.py _file": A_FILE,
    "app/recourse/choices.py _limits": A_TABLE,
    "app/rule_sets/choices.py _terms": A_TABLE,
}
"""Where a control stands, or what that begins with, and why the link does without it."""


@dataclass(frozen=True)
class Control:
    """A call that draws a control."""

    where: str
    linked: bool


def controls(path: Path) -> Iterator[Control]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    tied = {each.name for each in functions if any(_is_choice(node) for node in _returned(each))}
    for function in functions:
        kept = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, (ast.Assign, ast.AnnAssign))
            and node.value is not None
            and _holds_choice(node.value)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        # what a caller has made, under the name that it has there
        arguments = [*function.args.args, *filter(None, [function.args.kwarg])]
        handed = {argument.arg for argument in arguments if argument.arg == "kept"}
        for node in _own(function):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in CONTROLS
            ):
                label = ast.unparse(node.args[0]) if node.args else ""
                stars = [keyword.value for keyword in node.keywords if keyword.arg is None]
                linked = any(
                    _is_choice(star)
                    or (isinstance(star, ast.Name) and star.id in kept | handed)
                    or (
                        isinstance(star, ast.Call)
                        and isinstance(star.func, ast.Name)
                        and star.func.id in tied
                    )
                    for star in stars
                )
                yield Control(f"{path.relative_to(ROOT).as_posix()} {function.name} {label}", linked)


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Every node of a function but those of functions within it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef):
            waiting += ast.iter_child_nodes(node)


def _returned(function: ast.FunctionDef) -> Iterator[ast.AST]:
    return (node.value for node in _own(function) if isinstance(node, ast.Return) and node.value is not None)


def _is_choice(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "state.choice"


def _holds_choice(node: ast.AST) -> bool:
    return _is_choice(node) or (isinstance(node, ast.Dict) and any(map(_is_choice, node.values)))


ALL = [control for path in sorted((ROOT / "app").rglob("*.py")) for control in controls(path)]


@pytest.mark.parametrize("control", ALL, ids=lambda control: control.where)
def test_every_choice_is_in_the_link_or_deliberately_not(control: Control):
    reasons = [why for place, why in NOT_IN_THE_LINK.items() if control.where.startswith(place)]
    if control.linked:
        exact = [place for place in NOT_IN_THE_LINK if control.where == place]
        assert not exact, "it is in the link, and listed as if it were not"
    else:
        assert reasons, "tie it to the address with **state.choice(key), or say here why not"


def test_every_exception_is_one():
    stale = [
        place
        for place in NOT_IN_THE_LINK
        if not any(control.where.startswith(place) and not control.linked for control in ALL)
    ]
    assert not stale


NO_KEY = {
    "app/widgets/notices.py",  # what is wrong is read at once
    "app/widgets/results/exhibits.py",  # several on a page, below what does not change
    "app/widgets/results/result_frame.py",
}
"""Where what folds has no key."""


def test_what_folds_stays_open_when_something_comes_above_it():
    for path in sorted((ROOT / "app").rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in {"expander", "popover", "tabs"}
                and place not in NO_KEY
            ):
                assert "key" in {each.arg for each in node.keywords}, f"{place}:{node.lineno} needs a key"
