"""A mark of a figure that stands for people leads to them: of every audit, mark by mark, in real results."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.selection import read_selection
from audits.data import AuditData, build_data, data_spec
from audits.data.selection import selected_rows
from audits.runs.executors.pool import InlineExecutor
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult

SIDES = {"source": {"who": "Other"}, "target": {"who": "1"}}
AUDITED: list[dict[str, Any]] = [
    {"groups": {"bootstrap": 100}},
    {"flipset": {**SIDES, "permutations": 19}},
    {"rule_sets": {"protected": ["who", "job"], "permutations": 19, "support": 0.02}},
    {"barycenter": {"permutations": 39, "seconds": 0.2}},
    {"explain": SIDES},
    {"outcome_transport": {"by": ["who"], "against": "label", "permutations": 19}},
    {"sensitivity": {"protected": "who"}},
    {"loss_ratio": {"sensitive": ["who"], "steps": 20}},
    {"recourse": {"actionable": ["skill"], "by": ["who"], "steps": [0, 1], "permutations": 19}},
]
_UNCOUNTED = {"groups", "flipset", "barycenter", "outcome_transport", "recourse"}  # marks that are shares


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunResult, AuditData]:
    rng = np.random.default_rng(3)
    n = 200
    who, job = rng.choice(["Other", "1"], n), rng.choice(["a, b", "5 to 9", "c"], n)
    skill = rng.normal(size=n) + (who == "1") * 0.6
    table = pd.DataFrame({"who": who, "job": job, "skill": skill.round(3)})
    table["years"] = rng.normal(size=n).round(3)
    table["label"] = (rng.random(n) < 1 / (1 + np.exp(-skill))).astype(int)
    table["skill"] = table["skill"].mask(rng.random(n) < 0.05)
    folder = tmp_path_factory.mktemp("clicked")
    table.to_csv(folder / "people.csv", index=False)
    told: dict[str, Any] = {"label": "label", "favorable": 1, "kinds": {"who": "categorical"}}
    told |= {"protected": ["who", "job"], "features": ["skill", "years", "job"], "missing": "category"}
    data = {"path": "people.csv", **told}
    spec = {"data": data, "model": {"train": "logistic"}, "threshold": 0.5, "seed": 0, "audits": AUDITED}
    found = InlineExecutor().submit(spec, folder).result()
    return found, build_data(table.set_index(pd.RangeIndex(1, n + 1)), data_spec(told))


def _marks(found: RunResult) -> Iterator[tuple[str, Any, int, list[dict[str, Any]]]]:
    """Return the exhibit, the trace, and whom a mark stands for, of each mark of an audit."""
    audit = found.audits[0]
    for exhibit in AUDITS[audit.name].section(audit.result).exhibits:
        for trace in exhibit.figure().data:
            if not isinstance(trace.meta, (list, tuple)):
                continue
            marks = trace.x if trace.type in {"bar", "scatter"} else trace.meta
            assert len(marks) == len(trace.meta), f"{exhibit.key}: {len(trace.meta)} of {len(marks)} marks"
            for place, each in enumerate(trace.meta[:20]):
                if each:
                    yield exhibit.key, trace, place, json.loads(each)


@pytest.mark.parametrize("place", range(len(AUDITED)))
def test_marks_lead_to_their_people(
    run: tuple[RunResult, AuditData], place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, data = run
    found = dataclasses.replace(whole, audits=whole.audits[place : place + 1])
    monkeypatch.setattr("app.selection.run_of", lambda *_: found)
    audited = whole.audits[0].result.people.index
    counted = 0
    for key, trace, point, terms in _marks(found):
        linked = json.dumps([{**term, "run": "key"} if term.get("run") == "" else term for term in terms])
        chosen = read_selection(linked)  # as a link would bring it
        assert chosen.words(lambda _: found), key
        rows = chosen.rows_of_runs(None)  # type: ignore[arg-type]
        inside = selected_rows(data, chosen.of_data)
        if key not in {"by_group", "against_tolerance"}:  # these say themselves who was measured
            inside = inside.intersection(audited)
        inside = inside if rows is None else inside.intersection(rows)
        stated = _stated(found.audits[0].result, key, trace, point)
        if stated is not None:
            assert len(inside) == stated, f"{key}: {chosen.words(lambda _: found)}"
            counted += 1
    assert counted or AUDITED[place].keys() & _UNCOUNTED


def _stated(result: Any, key: str, trace: Any, point: int) -> int | None:
    """Return how many people a mark says it stands for, where it does."""
    if key == "scores":
        return round(trace.y[point] * result.n_rejected / 100)
    if key == "needed" and trace.type == "bar":
        group = json.loads(trace.meta[point])[0]["in"][0]
        return round(trace.x[point] * (result.people["group"] == group).sum() / 100)
    if key == "sunburst":
        return round(trace["values"][point])
    if key == "values":
        return round(trace.customdata[point])
    if key in {"by_group", "against_tolerance"}:
        label = trace.customdata[point]  # "who: 1 (47)" where it is a text, else the label and "47"
        return int(
            (label.rpartition("(")[2].rstrip(")") if isinstance(label, str) else label[1]).replace(",", "")
        )
    if key in {"histogram", "ratios"}:
        return round(trace.y[point])
    if key.startswith("ridges") and trace.mode == "markers":
        return int(trace.customdata[point][1])
    return None
