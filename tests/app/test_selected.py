"""Whom a figure offers to select: people "of this run" only where the page shows a run of one audit."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from app.selection import WHERE, read_selection, run_of
from app.widgets.people import selected
from audits.drawing.selected import of_group, people_id
from audits.errors import InputError
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused

GROUP = people_id(of_group("sex", "woman"))
RULE = people_id({"run": "", "rule": 0})
ONE_OF_A_RUN = {"run": "key", "row": 1}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of one audit that finds a rule set, and one of that and another."""
    folder = tmp_path_factory.mktemp("selected")
    table = pd.DataFrame({"sex": ["woman", "man"] * 100, "hired": [0, 1] * 80 + [1, 1] * 20})
    rules = {"rule_sets": {"protected": ["sex"]}}
    table["score"] = range(len(table))
    table.to_csv(folder / "people.csv", index=False)
    data = {"path": "people.csv", "protected": ["sex"], "favorable": 1}
    stored = {"data": data, "model": {"predictions": {"label": "hired"}}}
    trained = {"data": {**data, "label": "hired", "features": ["score"]}, "model": {"train": "logistic"}}
    asked = {"one": (stored, [rules]), "two": (stored, ["groups", rules]), "half": (trained, ["groups"])}
    return {name: execute(parse_spec({**d, "audits": a}, folder)) for name, (d, a) in asked.items()}


@pytest.mark.parametrize(("shown", "offered"), [("one", 2), ("two", 1), ("gone", 1), (None, 1)])
def test_people_of_this_run_are_offered_where_the_page_shows_a_run_of_one_audit(
    runs, monkeypatch, shown, offered
):
    def run_of(_, key):
        if key not in runs:
            raise InputError("the selection", "is of an audit that is no longer saved")
        return runs[key]

    monkeypatch.setattr(selected, "run_of", run_of)
    monkeypatch.setattr(selected.state, "address_value", lambda _: shown)
    monkeypatch.setattr(selected.state, "workspace", lambda: None)
    taken = []
    monkeypatch.setattr(selected.state, "select", taken.append)
    words = selected.selection_texts(None, [GROUP, RULE])
    assert len(words) == offered
    assert next(iter(words)) == "woman"
    selected.select(json.loads(RULE))
    assert [json.loads(text) for text in taken] == [[{"run": "one", "rule": 0}]] * (offered - 1)


def test_a_selection_beyond_what_was_audited_says_so(runs):
    plain, own = (read_selection(json.dumps(terms)) for terms in (json.loads(GROUP), [ONE_OF_A_RUN]))
    assert selected.beyond_audit(plain, runs["one"]) == "", "all were audited"
    assert selected.beyond_audit(own, runs["half"]) == "", "a run's own people were audited"
    assert selected.beyond_audit(plain, None) == ""
    told = selected.beyond_audit(plain, runs["half"])
    audited = runs["half"].data["rows_audited"]
    assert re.findall(r"\d+", told) == ["200", str(audited)]
    assert 0 < audited < 200


def test_people_of_a_run_on_another_table_are_nobody_here(space):
    space.note_run({"key": "key", "spec": {"data": {"path": "a.csv"}}})
    space.save_draft({"spec": {"data": {"path": "b.csv"}}})
    with refused(WHERE, "another table"):
        run_of(space, "key")
