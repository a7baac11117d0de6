"""Badge, figure, table row and JSON of explain, flows and recourse state one interval on examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audits.runs.documents import load_document
from audits.runs.executors.inline import InlineExecutor
from audits.stats.badges import interval_text

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
ASKED: dict[str, dict[str, Any]] = {
    "hiring": {"source": {"gender": "female"}, "target": {"gender": "male"}},
    "loans": {"source": {"sex": "female"}, "target": {"sex": "male"}},
    "admissions": {"source": {"school": "A"}, "target": {"school": "B"}},
}


@pytest.fixture(scope="module", params=ASKED)
def run(request: pytest.FixtureRequest):
    name, sides = request.param, ASKED[request.param]
    spec = dict(load_document(SAMPLES / f"{name}.yaml"))
    quick = {"permutations": 19}
    audits: list[Any] = [{"explain": sides}, {"outcome_transport": {**sides, **quick, "draws": 20}}]
    if "predictions" not in spec["model"]:
        audits.append({"outcome_transport": {"against": "label", **quick, "draws": 20}})
        asked = {"by": list(sides["source"]), "steps": [0, 1], "max_people": 200, "resolution": 0.1, **quick}
        reads = {"hiring": ["work_years"], "loans": ["debt", "savings"]}
        audits.append({"recourse": {**asked, "actionable": reads[name]}})
    return InlineExecutor().submit({**spec, "audits": audits, "search": "off"}, SAMPLES).result()


def test_the_first_mark_the_table_and_the_document_hold_the_interval_of_the_badge(run):
    document = run.to_json()
    for audit, entry in zip(run.audits, document["audits"], strict=True):
        judged = audit.result.judged
        interval = {end: getattr(judged.interval, end) for end in ("value", "low", "high")}
        assert {end: entry["interval"][end] for end in interval} == interval, audit.name
        assert entry["badge_text"] == judged.badge_text
        first = audit.section.exhibits[0]
        figure = first.figure()
        assert figure.data[0].meta == interval, audit.name
        assert figure.data[0].line.width == max(t.line.width or 0 for t in figure.data if t.type == "scatter")
        if judged.interval.low is None:
            continue
        tables = [exhibit.table() for exhibit in audit.section.exhibits]
        ends = {round(float(each), 9) for table in tables for each in table.select_dtypes("number").stack()}
        assert {round(each, 9) for each in interval.values()} <= ends, audit.name
        if audit.name in {"explain", "recourse"}:  # written at the mark as it is beside the sentence
            written = " ".join(note.text or "" for note in figure.layout.annotations)
            assert interval_text(judged).partition(" · ")[0] in written, audit.name
