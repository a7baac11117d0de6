"""A monitor of an audit whose data were recoded, or whose values have names, reads what the table holds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audits.cli import monitor as commands
from audits.monitor.bundle import MonitorBundle
from audits.monitor.ingestion import read_json
from audits.monitor.recoding import as_audited, people_in_order, with_values, written_words
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused
from tests.sensitivity.conftest import people

DATA = {
    "path": "people.csv",
    "label": "hired",
    "favorable": 1,
    "protected": ["group", "tall"],
    "features": ["skill", "height", "town", "area"],
    "recode": {
        "height": {"map": {-1: None}},
        "area": {"from": "place", "map": {"n": "up", "s": "down", "w": "down"}},
        "tall": {"where": [{"column": "height", "at_least": 175}]},
        "unread": {"from": "town", "map": {1: "x"}},
    },
    "labels": {"town": {1: "north", 2: "south", 3: "west"}, "group": {0: "first", 1: "second"}},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    frame = people(600)
    frame["town"] = frame["town"].map({"north": 1, "south": 2, "west": 3})
    frame["group"] = (frame["group"] == "b").astype(int)
    frame["place"] = frame["town"].map({1: "n", 2: "s", 3: "w"})
    frame.loc[frame.index[::20], "height"] = -1
    frame.to_csv(folder / "people.csv", index=False)
    audits = [{"sensitivity": {"bootstrap": 100, "match_set": "off", "protected": "group"}}]
    spec = parse_spec({"data": DATA, "model": {"train": "logistic"}, "audits": audits}, folder)
    run = execute(spec)
    (folder / "out").mkdir()
    run.save(folder / "out")
    bundle = with_values(MonitorBundle.of(run.audits[0].result), run.spec["data"])
    return bundle, run, frame, folder


def body(bundle, frame, n, **more):
    rows = frame.head(n)[list(bundle.reads)].astype(object).to_dict("records")
    return json.dumps({"rows": rows, **more}).encode()


def test_values_of_the_table_are_measured_as_in_the_audit(made):
    bundle, run, frame, _ = made
    sent = frame.assign(area=frame["place"])
    came = read_json(body(bundle, sent, 40, protected={"group": ["0", "?"] * 20}), bundle.reads)
    columns, beside = as_audited(bundle, came.columns, came.sent)
    scored = bundle.score_columns(columns, came.people)
    found = run.audits[0].result.people["sensitivity"]
    rows = found.index[found.index <= 40]
    np.testing.assert_allclose(scored.sensitivity[np.asarray(rows) - 1], found.loc[rows], rtol=1e-9)
    assert not scored.unseen
    assert set(beside.protected["group"]) == {"first", None}  # as a file has "?"
    again = as_audited(bundle, columns, beside)
    assert again == (columns, beside), "values as the audit had them are understood too"


def test_the_command_line_measures_the_table_itself(made, tmp_path: Path):
    _, run, _, folder = made
    said = commands.export(folder / "out", tmp_path / "bundle", "")
    assert all(each in said for each in written_words(MonitorBundle.load(tmp_path / "bundle")))
    lines = commands.score(tmp_path / "bundle", folder / "people.csv", None).splitlines()
    told = {row["row"]: row["sensitivity"] for row in map(json.loads, lines)}
    found = run.audits[0].result.people["sensitivity"]
    np.testing.assert_allclose([told[row] for row in found.index], found, rtol=1e-9)
    for weights in ("hired", {"column": "hired", "kind": "counts"}):
        with refused("ROWS"):  # counts of people, in no order of time
            people_in_order(with_values(made[0], {"weights": weights}), pd.read_csv(folder / "people.csv"))
