"""A monitor's bundle: the audit's own numbers from plain rows, without torch; bad rows named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load, save

from audits.monitor.bundle import MonitorBundle
from audits.runs.documents import load_document
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from audits.sensitivity import SensitivityOptions, sensitivity
from tests.refused import refused
from tests.sensitivity.conftest import people, subject_of

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


@pytest.fixture(scope="module")
def bundle(audited) -> MonitorBundle:
    return MonitorBundle.of(audited, note="ours")


def records(frame: pd.DataFrame, names: tuple[str, ...]) -> list[dict[str, object]]:
    return json.loads(frame[list(names)].to_json(orient="records"))


def test_a_bundle_gives_the_audits_numbers(logistic, audited, bundle, tmp_path: Path):
    bundle.save(tmp_path / "monitor")
    again = MonitorBundle.load(tmp_path / "monitor")
    assert (again.reads, again.about["note"]) == (("height", "skill", "town"), "ours")
    for rows in (logistic.data.frame, records(logistic.data.frame, again.reads)):
        scored = again.score(rows)
        np.testing.assert_allclose(scored.sensitivity, audited.people["sensitivity"], rtol=1e-9)
        np.testing.assert_allclose(scored.score, logistic.scores, rtol=1e-9)
        assert scored.flagged.sum() == audited.above
        assert not scored.unseen
    assert sum(dict(scored.top(0, 9)).values()) == pytest.approx(scored.sensitivity[0])


@pytest.mark.parametrize("options", [{"smooth": 4, "gradient": "literal"}, {"status_model": "network"}])
def test_every_option_travels(options):
    subject = subject_of(people(400), "mlp")
    found = sensitivity(subject, SensitivityOptions(bootstrap=100, match_set="off", **options))
    scored = MonitorBundle.parse(*MonitorBundle.of(found).dump()).score(subject.data.frame)
    np.testing.assert_allclose(scored.sensitivity, found.people["sensitivity"], rtol=1e-9)
    np.testing.assert_allclose(scored.score, subject.scores, atol=1e-6)  # torch scores in float32


@pytest.fixture(scope="module")
def loans():
    """An audit of the loans example: an ONNX file that reads numbers, words and missing values."""
    document = load_document(SAMPLES / "loans.yaml")
    options = {"bootstrap": 100, "max_people": 300, "status_model": "logistic"}
    document["audits"] = [{"sensitivity": {"protected": ["sex", "ethnicity"], **options}}]
    return execute(parse_spec(document, SAMPLES)).audits[0].result


def test_an_onnx_file_travels_and_gives_the_audits_numbers(loans):
    bundle = MonitorBundle.parse(*MonitorBundle.of(loans).dump())
    people = loans.people.index[:60]
    rows = records(pd.read_csv(SAMPLES / "loans.csv").set_axis(range(1, 5001)).loc[people], bundle.reads)
    assert any(value is None for row in rows for value in row.values())
    scored = bundle.score(rows)
    expected = loans.people.loc[people]
    np.testing.assert_allclose(scored.sensitivity, expected["sensitivity"], rtol=1e-12)
    np.testing.assert_allclose(scored.score, expected["score"], rtol=1e-12)
    np.testing.assert_allclose(scored.contributions, loans.contributions.loc[people], rtol=1e-12)
    # neither the order nor the size of a batch matters: how common values are is the audit's
    # (the file computes in float32, whose last digits follow the batch; slopes divide them by a step of 0.1)
    again = [bundle.score([row]).sensitivity[0] for row in rows[:4]]
    np.testing.assert_allclose(again, scored.sensitivity[:4], rtol=1e-4)
    np.testing.assert_allclose(bundle.score(rows[::-1]).sensitivity[::-1], scored.sensitivity, rtol=1e-4)
    assert bundle.score([{**rows[0], "purpose": "a boat"}]).unseen == {0: ["purpose"]}


def test_damaged_bundles_are_refused(bundle, loans, tmp_path: Path):
    text, weights = bundle.dump()
    told = json.loads(text)
    narrow = {**told, "encoding": told["encoding"][:1], "reads": ["height"]}
    carried, arrays = MonitorBundle.of(loans).dump()
    for bad in (
        (text, weights[:-9]),
        ("{", weights),
        ("{}", weights),
        (json.dumps({**told, "format": 9}), weights),
        (json.dumps(narrow), weights),
        (carried.replace('"step"', '"stop"'), arrays),
    ):
        with refused("bundle"):
            MonitorBundle.parse(*bad)
    with refused("bundle"):
        MonitorBundle.load(tmp_path / "nowhere")
    changed = load(arrays)
    changed["onnx"] = changed["onnx"][:-1].copy()
    other = MonitorBundle.parse(carried, save(changed))
    with refused("ONNX model loans.onnx"):
        other.score([dict.fromkeys(other.reads)])


GOOD = {"skill": 0.5, "height": 170, "town": "north"}


@pytest.mark.parametrize(
    ("row", "refusal"),
    [
        ({"skill": 0.5, "height": 170}, ("rows[1]", "'town'")),
        ({**GOOD, "group": "a"}, ("rows[1]", "'group'")),
        ({**GOOD, "skill": "high"}, ("rows[1].skill", "'high'")),
        ({**GOOD, "skill": True}, ("rows[1].skill",)),
        ({**GOOD, "skill": float("inf")}, ("rows[1].skill",)),
        ({**GOOD, "skill": 10**400}, ("rows[1].skill",)),
        ({**GOOD, "town": ["north"]}, ("rows[1].town",)),
        ({**GOOD, "town": "x" * 2000}, ("rows[1].town", "1000")),
        ([1, 2], ("rows[1]",)),
    ],
)
def test_bad_rows_are_named(bundle, row, refusal):
    with refused(*refusal):
        bundle.score([GOOD, row])


def test_what_was_never_seen_is_measured_and_told(bundle):
    scored = bundle.score([GOOD, *({**GOOD, **own} for own in ({"town": "moon"}, {"height": None}))])
    assert scored.unseen == {1: ["town"], 2: ["height"]}
    assert np.isfinite(bundle.score([{**GOOD, "skill": 1e300}]).sensitivity).all()
