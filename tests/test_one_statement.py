"""One interval behind a verdict: badge, sentence, first figure, table row and JSON show it alike."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.errors import InputError
from audits.records import Audit
from audits.runs.documents import load_document
from audits.runs.execute import execute, prepared_subject
from audits.runs.registry import AUDITS, usual_audits
from audits.runs.result import AuditResult
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE

SAMPLES = Path(__file__).resolve().parents[1] / "sample_data"
PEOPLE = 200
CHEAP: dict[str, Any] = {"permutations": 19, "bootstrap": 100, "draws": 100, "steps": 5, "samples": 0}
SITUATIONS = {
    "nobody favored": (("south", "north"), 2.0),
    "one person favored": (("south", "north"), 0.999),
    "equal": (("same", "same again"), 0.5),
    "a group named Other, one of 1": (("Other", "1"), 0.5),
    "eight groups": (tuple(f"group {letter}" for letter in "abcdefgh"), 0.5),
}


def _cheap(record: Audit, options: dict[str, Any]) -> dict[str, Any]:
    known = {field.name: field.type for field in dataclasses.fields(record.options)}
    return {name: value for name, value in CHEAP.items() if "int" in str(known.get(name))} | options


def _asked(folder: Path, name: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The spec of an example, and the options of every audit that can be made of it."""
    document = load_document(folder / f"{name}.yaml")
    spec = parse_spec(document, folder)
    subject = prepared_subject(spec)
    found = usual_audits(subject.data, anew=subject.model.invents)
    named = next((each.options for each in spec.audits if getattr(each.options, "source", None)), None)
    if named is not None:
        pair = {"source": dict(named.source), "target": dict(named.target)}
        for each, record in AUDITS.items():
            if {"source", "target"} <= {field.name for field in dataclasses.fields(record.options)}:
                found[each] = pair
    return {key: document[key] for key in ("data", "model", "threshold")}, found


def _audited(folder: Path, name: str) -> Iterator[AuditResult]:
    """Run every audit that can be made of a table; one that refuses these few people has nothing to state."""
    spec, options = _asked(folder, name)
    for audit, chosen in options.items():
        request = {audit: _cheap(AUDITS[audit], chosen)}
        with contextlib.suppress(InputError):
            yield execute(parse_spec({**spec, "audits": [request], "search": "off"}, folder)).audits[0]


def _states_one(found: AuditResult) -> bool:
    """Hold that figure, table, sentence and JSON state the interval; tell whether there is one."""
    judged, entry = found.result.judged, found.to_json()
    interval = {key: getattr(judged.interval, key) for key in ("value", "low", "high")}
    assert {key: entry["interval"][key] for key in interval} == interval
    assert (entry["badge"], entry["badge_text"]) == (judged.badge, judged.badge_text)
    assert judged.verdict != EVIDENCE or judged.p_value is not None, "a run's correction needs its p-value"
    exhibit = AUDITS[found.name].section(found.result).exhibits[0]
    known = [each for each in (interval["low"], interval["value"], interval["high"]) if each is not None]
    if known:
        figure = exhibit.figure()
        trace, axis = figure.data[0], figure.layout.xaxis
        assert trace.meta == interval
        if axis.range:
            drawn = [10.0**end if axis.type == "log" else end for end in axis.range]
            assert min(drawn) <= min(trace.x) <= max(trace.x) <= max(drawn)
        assert any(np.allclose(trace.x, np.array(known) * unit) for unit in (1.0, 100.0))
        table = exhibit.table().select_dtypes("number").to_numpy(dtype=float)
        assert any(_in_row(row, known) for row in table), "a row of the table states it"
    for points in re.findall(r"(\d+(?:\.\d+)?)[ -]points?\b", found.headline):
        ends = [abs(100 * each) for each in (*known, judged.immaterial_high or 0.0)]
        digits = len(points.partition(".")[2])
        gap = getattr(found.result, "gap", None)  # explain begins with the gap that it adjusts
        ends += [] if gap is None or gap.value is None else [abs(100 * gap.value)]
        assert any(round(each, digits) == float(points) for each in ends), found.headline
    return bool(known)


def _in_row(row: np.ndarray, known: list[float]) -> bool:
    """Whether a row holds all of these, as shares or in points."""
    return any(
        all(np.isclose(row, unit * each, rtol=1e-9, atol=1e-12).any() for each in known)
        for unit in (1.0, 100.0)
    )


def test_of_an_example(tmp_path: Path) -> None:
    """Of some of its people: verdicts differ, as of all; tests/golden states the numbers of all."""
    for file in SAMPLES.glob("hiring[._]*"):
        shutil.copy(file, tmp_path)
    people = pd.read_csv(SAMPLES / "hiring.csv", dtype=str).sample(PEOPLE, random_state=0)
    people.sort_index().to_csv(tmp_path / "hiring.csv", index=False)
    stated = [found.name for found in _audited(tmp_path, "hiring") if _states_one(found)]
    assert len(stated) >= 4, stated


@pytest.mark.parametrize("situation", SITUATIONS)
def test_of_hard_situations(tmp_path: Path, situation: str) -> None:
    groups, cut = SITUATIONS[situation]
    rng = np.random.default_rng(5)
    who = np.arange(160) % len(groups)
    skill, years = rng.normal(size=(2, 160)).round(3) + (who % 2) * (situation != "equal")
    score = (1 / (1 + np.exp(-skill - 0.5 * years))).round(6)
    score[0] = 0.9995
    frame = pd.DataFrame({"who": np.array(groups)[who], "skill": skill, "years": years, "score": score})
    frame["label"] = (rng.random(160) < score).astype(int)
    frame.to_csv(tmp_path / "people.csv", index=False)
    data = {"path": "people.csv", "label": "label", "favorable": 1, "features": ["skill", "years"]}
    data |= {"protected": ["who"], "kinds": {"who": "categorical"}}
    pair = {"source": {"who": groups[0]}, "target": {"who": groups[1]}}
    document = {
        **{"data": data, "model": {"predictions": {"score": "score"}}},
        **{"threshold": cut, "audits": [{"flipset": pair}]},
    }
    (tmp_path / "spec.yaml").write_text(pd.io.json.ujson_dumps(document), encoding="utf-8")
    stated = [found.name for found in _audited(tmp_path, "spec") if _states_one(found)]
    assert len(stated) >= 2, stated
