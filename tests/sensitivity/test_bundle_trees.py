"""A monitor's bundle of a forest or of boosting: the audit's own numbers, from plain rows."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from audits.data import DataSpec, LabelCut, build_data
from audits.models import Subject, make_subject, model_spec
from audits.monitor.bundle import MonitorBundle
from audits.sensitivity import SensitivityOptions, SensitivityResult, sensitivity
from audits.sensitivity.monitor import models as carried
from tests.models.test_plain_trees import subject_of
from tests.refused import refused
from tests.sensitivity import conftest

KINDS = ("forest", "boosting")
QUICK = {"bootstrap": 100, "match_set": "off", "status_model": "logistic"}


@pytest.fixture(scope="module", params=KINDS)
def audited(request: pytest.FixtureRequest) -> tuple[Subject, SensitivityResult]:
    subject = subject_of(request.param)
    return subject, sensitivity(subject, SensitivityOptions(**QUICK))


def test_trees_travel_and_give_the_audits_numbers(audited: tuple[Subject, SensitivityResult]):
    subject, found = audited
    bundle = MonitorBundle.parse(*MonitorBundle.of(found).dump())
    rows = json.loads(subject.data.frame[list(bundle.reads)].to_json(orient="records", date_format="iso"))
    assert any(value is None for row in rows for value in row.values())
    scored = bundle.score(rows)
    np.testing.assert_array_equal(scored.score, subject.scores)
    np.testing.assert_allclose(scored.sensitivity, found.people["sensitivity"], rtol=1e-12)
    np.testing.assert_array_equal(scored.flagged, found.people["flagged"])
    np.testing.assert_allclose(scored.contributions, found.contributions, rtol=1e-12, atol=1e-15)
    assert not scored.unseen
    assert (found.people["sensitivity"] > 0).mean() > 0.9
    # neither the order nor the size of a batch matters
    np.testing.assert_allclose(bundle.score(rows[4::-1]).sensitivity, scored.sensitivity[4::-1], rtol=1e-12)


def test_a_column_that_trees_read_and_nothing_encodes_is_refused(audited: tuple[Subject, SensitivityResult]):
    text, weights = MonitorBundle.of(audited[1]).dump()
    with refused("bundle", "'wage'"):
        MonitorBundle.parse(text.replace('"column": "age", "places"', '"column": "wage", "places"'), weights)


def number_subject(kind: str, **cut: float) -> Subject:
    """A model of a person's height, of which the label is a cut."""
    spec = DataSpec(label=LabelCut("height", **cut), protected=("group",), features=("skill", "town"))
    data = build_data(conftest.people(500), spec)
    return make_subject(data, model_spec({"train": kind, "predict": "label"}), seed=0)


def test_the_distance_from_a_cut_is_that_of_the_number():
    """Where lower is better too, though a score is then the number with its sign turned."""
    subject = number_subject("logistic", below=175)
    people = sensitivity(subject, SensitivityOptions(**QUICK)).people
    heights = subject.model.number(subject.data.frame)
    np.testing.assert_allclose(people["distance"], np.abs(heights - 175), atol=1e-9)


def test_why_a_model_has_no_monitor_is_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(carried, "MAX_BYTES", 1000)
    subjects = number_subject("forest", at_least=175), subject_of("forest")
    said = [sensitivity(subject, SensitivityOptions(**QUICK)) for subject in subjects]
    said.append(dataclasses.replace(said[-1], carried=None))
    assert len({found.unwatchable for found in said}) == len(said)
    for found in said:
        assert found.unwatchable.endswith(".")
        with refused("the audit") as told:
            MonitorBundle.of(found)
        assert found.unwatchable.rstrip(".") in str(told.value)
