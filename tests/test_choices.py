"""Every choice on every page is in the link, or deliberately not: for each that is not, the reason.

Read from the source: a control that is tied to the address takes ``**state.choice(…)``, or what a function
made of it; nothing else is handed over so. What is new has to take a side here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

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


def calls(methods: set[str]) -> Iterator[tuple[str, ast.Call]]:
    """Yield calls of such methods in the app, with the file, the function around them and their label."""
    for path in sorted((ROOT / "app").rglob("*.py")):
        waiting = [("", ast.parse(path.read_text(encoding="utf-8")))]
        while waiting:
            inside, node = waiting.pop()
            inside = node.name if isinstance(node, ast.FunctionDef) else inside
            waiting += [(inside, each) for each in ast.iter_child_nodes(node)]
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in methods:
                label = ast.unparse(node.args[0]) if node.args else ""
                yield f"{path.relative_to(ROOT).as_posix()} {inside} {label}", node


def test_every_choice_is_in_the_link_or_deliberately_not():
    linked, others = set(), set()
    for where, call in calls(CONTROLS):
        (linked if None in {each.arg for each in call.keywords} else others).add(where)
    assert not linked & NOT_IN_THE_LINK.keys(), "it is in the link, and listed as if it were not"
    reasoned = {where: [each for each in NOT_IN_THE_LINK if where.startswith(each)] for where in others}
    unknown = [where for where, reasons in reasoned.items() if not reasons]
    assert not unknown, "tie it to the address with **state.choice(key), or say here why not"
    assert not NOT_IN_THE_LINK.keys() - {each for reasons in reasoned.values() for each in reasons}, "stale"


NO_KEY = {
    "app/widgets/notices.py",  # what is wrong is read at once
    "app/widgets/results/exhibits.py",  # several on a page, below what does not change
    "app/widgets/results/result_frame.py",
}
"""Where what folds has no key."""


def test_what_folds_stays_open_when_something_comes_above_it():
    for where, call in calls({"expander", "popover", "tabs"}):
        assert where.split()[0] in NO_KEY or "key" in {each.arg for each in call.keywords}, where
