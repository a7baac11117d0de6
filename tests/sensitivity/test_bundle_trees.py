"""A monitor's bundle of a forest or of boosting: the audit's own numbers, from plain rows."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from safetensors.numpy import load, save

from audits.data import DataSpec, LabelCut, build_data
from audits.models import Subject, make_subject, model_spec
from audits.monitor.bundle import MonitorBundle
from audits.sensitivity import SensitivityOptions, SensitivityResult, sensitivity
from audits.sensitivity.monitor import models as carried
from tests.models.test_plain_trees import strangers, subject_of
from tests.refused import refused
from tests.sensitivity import conftest

KINDS = ("forest", "boosting")
QUICK = {"bootstrap": 100, "match_set": "off", "status_model": "logistic"}


@pytest.fixture(scope="module", params=KINDS)
def audited(request: pytest.FixtureRequest) -> tuple[Subject, SensitivityResult]:
    subject = subject_of(request.param)
    return subject, sensitivity(subject, SensitivityOptions(**QUICK))


def sent(frame, names: tuple[str, ...]) -> list[dict[str, object]]:
    """Return rows as they come by HTTP."""
    return json.loads(frame[list(names)].to_json(orient="records", date_format="iso", date_unit="s"))


def test_trees_travel_and_give_the_audits_numbers(audited: tuple[Subject, SensitivityResult]):
    subject, found = audited
    bundle = MonitorBundle.parse(*MonitorBundle.of(found).dump())
    rows = sent(subject.data.frame, bundle.reads)
    assert any(value is None for row in rows for value in row.values())
    for scored in (bundle.score(rows), bundle.score(subject.data.frame)):
        np.testing.assert_array_equal(scored.score, subject.scores)
        np.testing.assert_allclose(scored.sensitivity, found.people["sensitivity"], rtol=1e-12)
        np.testing.assert_array_equal(scored.flagged, found.people["flagged"])
        np.testing.assert_allclose(scored.contributions, found.contributions, rtol=1e-12, atol=1e-15)
        assert not scored.unseen
    assert (found.people["sensitivity"] > 0).mean() > 0.9
    # neither the order nor the size of a batch matters
    again = [bundle.score([row]).sensitivity[0] for row in rows[:5]]
    np.testing.assert_allclose(again, scored.sensitivity[:5], rtol=1e-12)
    np.testing.assert_allclose(bundle.score(rows[::-1]).sensitivity[::-1], scored.sensitivity, rtol=1e-12)


def test_what_was_never_seen_is_scored_as_the_model_does(audited: tuple[Subject, SensitivityResult]):
    subject, found = audited
    bundle = MonitorBundle.of(found)
    frame = strangers(subject.data.frame)
    frame["age"] = frame["age"].where(frame["age"] < 1e6)
    scored = bundle.score(sent(frame, bundle.reads))
    np.testing.assert_array_equal(scored.score, subject.favorable_score(frame))
    assert "job" in {name for names in scored.unseen.values() for name in names}
    far = bundle.score([{**sent(frame.head(1), bundle.reads)[0], "debt": 1e300}])
    assert np.isfinite([far.score[0], far.sensitivity[0]]).all()


def test_a_model_of_several_labels_and_the_literal_form_travel():
    subject = subject_of("boosting", "grade", "a", predict="label")
    found = sensitivity(subject, SensitivityOptions(gradient="literal", step=0.3, **QUICK))
    scored = MonitorBundle.parse(*MonitorBundle.of(found).dump()).score(subject.data.frame)
    np.testing.assert_allclose(scored.score, subject.probabilities, rtol=0, atol=1e-15)
    np.testing.assert_allclose(scored.sensitivity, found.people["sensitivity"], rtol=0, atol=1e-12)


def test_damaged_trees_are_refused(audited: tuple[Subject, SensitivityResult]):
    text, weights = MonitorBundle.of(audited[1]).dump()
    arrays = load(weights)
    arrays["trees.left"] = np.zeros_like(arrays["trees.left"])
    with refused("bundle"):
        MonitorBundle.parse(text, save(arrays))
    with refused("bundle", "'wage'"):
        MonitorBundle.parse(text.replace('"column": "age", "places"', '"column": "wage", "places"'), weights)


def number_subject(kind: str, **cut: float) -> Subject:
    """A model of a person's height, of which the label is a cut."""
    spec = DataSpec(label=LabelCut("height", **cut), protected=("group",), features=("skill", "town"))
    data = build_data(conftest.people(500), spec)
    return make_subject(data, model_spec({"train": kind, "predict": "label"}), seed=0)


def test_the_distance_from_a_cut_is_that_of_the_number():
    """Where lower is better too, though a score is then the number with its sign turned."""
    for cut in ({"at_least": 175}, {"below": 175}):
        subject = number_subject("logistic", **cut)
        people = sensitivity(subject, SensitivityOptions(**QUICK)).people
        heights = subject.model.number(subject.data.frame)
        np.testing.assert_allclose(people["distance"], np.abs(heights - 175), atol=1e-9)


def test_why_a_model_has_no_monitor_is_one_sentence(monkeypatch: pytest.MonkeyPatch):
    said = [sensitivity(conftest.subject_of(conftest.people(500), "reductions"), SensitivityOptions(**QUICK))]
    said.append(sensitivity(number_subject("forest", at_least=175), SensitivityOptions(**QUICK)))
    monkeypatch.setattr(carried, "MAX_BYTES", 1000)
    said.append(sensitivity(subject_of("forest"), SensitivityOptions(**QUICK)))
    said.append(dataclasses.replace(said[-1], carried=None))
    assert len({found.unwatchable for found in said}) == len(said)
    for found in said:
        assert found.unwatchable.endswith(".")
        with refused("the audit") as told:
            MonitorBundle.of(found)
        assert found.unwatchable.rstrip(".") in str(told.value)


def test_trees_that_score_otherwise_are_not_carried(monkeypatch: pytest.MonkeyPatch):
    """As after an update of scikit-learn that changes how its trees are kept."""
    from audits.models.trees import plain as plain_trees

    true = plain_trees._forest
    monkeypatch.setattr(
        plain_trees,
        "_forest",
        lambda model: dataclasses.replace(true(model), value=true(model).value * 1.001),
    )
    found = sensitivity(subject_of("forest"), SensitivityOptions(**QUICK))
    assert found.unwatchable
