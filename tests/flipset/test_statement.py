"""Badge, figure, table, report and JSON of a bundled example state the same interval, to the digit."""

from __future__ import annotations

from pathlib import Path

import pytest

from audits.runs.documents import load_document
from audits.runs.executors.inline import InlineExecutor
from audits.runs.registry import AUDITS
from audits.stats.badges import interval_text
from audits.stats.vocabulary import speaking

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
COUPLED = [{"permutations": 39, "seconds": 1}, {"permutations": 39, "seconds": 1, "by": ["gender"]}]


@pytest.fixture(scope="module")
def run():
    spec = load_document(SAMPLES / "hiring.yaml")
    pair = spec["audits"][0]["flipset"]
    spec |= {"audits": [{"flipset": pair | COUPLED[0]}, {"barycenter": COUPLED[1]}], "search": "off"}
    return InlineExecutor().submit(spec, SAMPLES).result()


@pytest.mark.parametrize("place", [0, 1])
def test_one_interval_everywhere(run, place: int) -> None:
    audit, entry = run.audits[place], run.to_json()["audits"][place]
    interval = audit.result.judged.interval
    told = {"value": interval.value, "low": interval.low, "high": interval.high}
    assert {key: entry["interval"][key] for key in told} == told
    assert entry["badge_text"] == audit.result.judged.badge_text
    with speaking(audit.words):
        section = AUDITS[audit.name].section(audit.result)
        hero = section.exhibits[0].figure()
        assert hero.data[0].meta == told
        said = " ".join(note.text for note in hero.layout.annotations) + section.exhibits[0].heading
    assert interval_text(audit.result.judged).split(" · ")[0] in said
