"""Models behind an address, asked over real HTTP on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.models import ModelSpec, make_subject, model_spec, service
from audits.models.spec import Endpoint
from tests.models.conftest import audit_data
from tests.models.scorer import Scorer, probability, serve
from tests.refused import refused


@pytest.fixture
def scorer() -> Iterator[Scorer]:
    with serve() as told:
        yield told


def spec(scorer: Scorer, **options: Any) -> ModelSpec:
    return ModelSpec(endpoint=Endpoint(scorer.url, **options))


def expected(frame: pd.DataFrame) -> np.ndarray:
    return np.array([probability(row) for row in frame.to_dict("records")])


def test_scores_are_those_of_the_service_whatever_the_batches_and_the_order_of_classes(people, scorer):
    data = audit_data(people)
    for size, classes in ((1000, None), (30, ("yes", "no"))):
        asked = ModelSpec(endpoint=Endpoint(scorer.url, rows_at_once=size), classes=classes)
        subject = make_subject(data, asked)
        truth = 1 - expected(data.frame) if classes else expected(data.frame)
        np.testing.assert_allclose(subject.scores, truth, rtol=0, atol=1e-15)
        assert subject.model.classes == (classes or ("no", "yes"))
    assert max(len(body["instances"]) for body in scorer.requests[-12:]) == 30
    assert subject.score_kind == "probability"


def test_people_are_sent_as_they_are_in_the_data(people, scorer):
    scorer.answer = lambda rows: [0.5] * len(rows)
    frame = people.assign(fraction=np.arange(len(people)) / 7)
    frame.loc[[2, 5], "income"] = np.nan
    data = audit_data(frame, missing="category")
    make_subject(data, spec(scorer, rows_under="dataframe_records"))
    (sent,) = scorer.requests[0].values()
    assert list(scorer.requests[0]) == ["dataframe_records"]
    first, second = sent[:2]
    assert list(first) == list(data.features)
    assert first["age"] == people["age"].iloc[0]
    assert type(first["age"]) is int
    assert first["job"] == people["job"].iloc[0]
    assert [row["fraction"] for row in sent] == list(data.frame["fraction"]), "no digit is lost"
    assert second["income"] is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (lambda p: [[1 - q, q] for q in p], "probability"),
        (lambda p: [{"1": q, "2": 1 - q} for q in p], "probability"),
        (lambda p: [{"2": 1 - q} for q in p], "probability"),  # of the class that it names
        (lambda p: [[1 - q] for q in p], "probability"),
        (lambda p: {"scores": [1 - q for q in p], "model": "m"}, "probability"),
        (lambda p: [1 if q > 0.5 else 2 for q in p], "label"),
    ],
)
def test_answers_of_any_usual_shape_are_read(people, scorer, answer, kind):
    """The good outcome is 1 of 1 and 2, as in German credit."""
    frame = people.assign(hired=np.where(people["hired"] == "yes", 1, 2))
    scorer.answer = lambda rows: answer([probability(row) for row in rows])
    classes = (2, 1) if answer([0.5]) == [[0.5, 0.5]] else None
    asked = ModelSpec(endpoint=Endpoint(scorer.url), classes=classes)
    subject = make_subject(audit_data(frame, favorable=1), asked)
    truth = expected(frame)
    np.testing.assert_allclose(subject.scores, truth > 0.5 if kind == "label" else truth, atol=1e-12)
    assert subject.score_kind == kind


def test_without_a_label_the_answer_is_the_chance_of_the_favourable_outcome(people, scorer):
    data = audit_data(people.drop(columns="hired"), label=None, favorable=None)
    subject = make_subject(data, spec(scorer), threshold=0.7)
    np.testing.assert_array_equal(subject.scores, expected(data.frame))
    np.testing.assert_array_equal(subject.decisions, expected(data.frame) >= 0.7)
    assert subject.score_kind == "probability"
    assert subject.favorable_score(data.frame.head(0)).shape == (0,)
    unfavorable = audit_data(people.drop(columns="hired"), label=None, favorable=0)
    with refused("model.classes"):
        make_subject(unfavorable, spec(scorer))


def test_an_audit_asks_about_people_who_do_not_exist(people, scorer):
    subject = make_subject(audit_data(people.head(40)), spec(scorer))
    before = len(scorer.requests)
    assert loss_ratio(subject, LossRatioOptions(sensitive=("sex",), steps=1)).statistic.value >= 1
    incomes = {row["income"] for body in scorer.requests[before:] for row in body["instances"]}
    assert len(incomes - set(people["income"])) > 40, "each person's gradient is by finite differences"


def test_the_digest_is_of_address_version_and_scores_and_one_that_never_is_the_same_is_told(people, scorer):
    data, draws = audit_data(people), np.random.default_rng(0)
    first = make_subject(data, spec(scorer))
    assert make_subject(data, spec(scorer)).model.sha256 == first.model.sha256
    assert make_subject(data, spec(scorer, version="2")).model.sha256 != first.model.sha256
    scorer.answer = lambda rows: draws.random(len(rows)).tolist()
    random = make_subject(data, spec(scorer))
    assert random.model.sha256 != first.model.sha256
    assert len(random.notes) > len(first.notes)


def test_a_busy_service_is_asked_again_and_a_token_is_sent(people, scorer, monkeypatch):
    monkeypatch.setenv("EVENHAND_ENDPOINT_TOKEN", "s3cret")
    scorer.status = [503, 429]
    data = audit_data(people)
    np.testing.assert_allclose(make_subject(data, spec(scorer)).scores, expected(data.frame), atol=1e-15)
    assert {headers["Authorization"] for headers in scorer.headers} == {"Bearer s3cret"}


def answers(first, *others):
    """Answer `first` for the first person, and for all others what is given last."""
    return {"answer": lambda rows: [first, *[[first, *others][-1]] * (len(rows) - 1)]}


@pytest.mark.parametrize(
    ("told", "tells"),
    [
        ({"status": [500]}, ["500"]),
        ({"status": [302], "location": "http://example.org/"}, ["302"]),
        ({"raw": b"<html>"}, ["JSON", "<html>"]),
        ({"raw": b"[" * 100_000}, ["JSON"]),
        ({"answer": lambda rows: {"result": [1.0]}}, ["'result'"]),
        ({"answer": lambda rows: [0.5]}, ["1 ", "400"]),
        ({"answer": lambda rows: 0.5}, ["400"]),
        (answers(1.5), ["400 of 400", "1.5"]),
        (answers([0.5], 0.5), ["rows 2, 3, 4", "[0.5]"]),
        (answers([0.5, 0.5], [1.0]), ["[0.5, 0.5]"]),
        (answers([0.9, 0.9]), ["400 of 400", "1.8"]),
        (answers([0.2, 0.3, 0.5]), [" 3 ", "model.classes"]),
        (answers("maybe"), ["'maybe'", "model.classes"]),
        (answers({"yes": "a"}), ["['a']"]),
        (answers(None, 0.5), ["1 of 400", "(row 1)"]),
    ],
)
def test_a_wrong_answer_is_one_sentence(people, scorer, told, tells):
    for name, value in told.items():
        setattr(scorer, name, value)
    where = "model" if "(row 1)" in tells else f"endpoint {scorer.url.removeprefix('http://')}"
    with refused(where, *tells) as caught:
        make_subject(audit_data(people), spec(scorer))
    assert "\n" not in str(caught.value)


def test_nobody_at_the_address_and_an_answer_that_does_not_come(people, scorer, monkeypatch):
    monkeypatch.setattr(service, "_RETRIES", service._RETRIES.new(total=0))  # which would wait between
    with refused("model.endpoint.url", "127.0.0.1"):
        make_subject(audit_data(people), model_spec({"endpoint": {"url": "http://127.0.0.1:9/score"}}))
    wait = threading.Event()
    scorer.answer = lambda rows: wait.wait(20)
    with refused("model.endpoint.url", "timed out"):
        make_subject(audit_data(people), spec(scorer, timeout=0.05))
    wait.set()


@pytest.mark.parametrize(
    ("hosts", "url"),
    [
        (None, "http://example.org/score"),
        (None, "http://127.0.0.1.example.org/score"),
        (None, "http://user@127.0.0.1/score"),
        ("", "http://127.0.0.1/score"),
        ("models.example.org", "http://models.example.org:81/score"),
        ("models.example.org", "http://[::1/score"),
    ],
)
def test_only_allowed_hosts_are_asked(people, scorer, monkeypatch, hosts, url):
    monkeypatch.setenv("EVENHAND_ENDPOINT_HOSTS", f"other.example.org, {scorer.url.split('/')[2]}")
    assert make_subject(audit_data(people), spec(scorer)).scores.shape == (400,)
    if hosts is None:
        monkeypatch.delenv("EVENHAND_ENDPOINT_HOSTS")
    else:
        monkeypatch.setenv("EVENHAND_ENDPOINT_HOSTS", hosts)
    with refused("model.endpoint.url"):
        make_subject(audit_data(people), ModelSpec(endpoint=Endpoint(url)))
