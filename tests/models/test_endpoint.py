"""Models behind an address, asked over real HTTP on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.data import LabelCut
from audits.errors import InputError
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.models import ModelSpec, make_subject, model_spec
from audits.models.spec import Endpoint
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


def test_scores_are_those_of_the_service_whatever_the_batches(make_data, people, scorer):
    data = make_data(people)
    for size in (1000, 7):
        subject = make_subject(data, spec(scorer, rows_at_once=size))
        np.testing.assert_allclose(subject.scores, expected(data.frame), rtol=0, atol=1e-15)
    assert max(len(body["instances"]) for body in scorer.requests[-20:]) == 7
    assert subject.model.classes == ("no", "yes")
    assert subject.score_kind == "probability"
    assert any("'no' or 'yes'" in note for note in subject.notes)


def test_people_are_sent_as_they_are_in_the_data(make_data, people, scorer):
    scorer.answer = lambda rows: [0.5] * len(rows)
    frame = people.assign(
        born=pd.Timestamp("1990-01-02") + pd.to_timedelta(people["age"], unit="D"),
        fraction=np.arange(len(people)) / 7,
    )
    frame.loc[[2, 5], "income"] = np.nan
    data = make_data(frame, missing="category")
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
        (lambda p: [{"yes": q, "no": 1 - q} for q in p], "probability"),
        (lambda p: [[q] for q in p], "probability"),
        (lambda p: {"scores": p, "model": "m"}, "probability"),
        (lambda p: ["yes" if q > 0.5 else "no" for q in p], "label"),
    ],
    ids=["a list a person", "a class a key", "one in a list", "under another key", "labels"],
)
def test_answers_of_any_usual_shape_are_read(make_data, people, scorer, answer, kind):
    scorer.answer = lambda rows: answer([probability(row) for row in rows])
    data = make_data(people)
    subject = make_subject(data, spec(scorer))
    truth = expected(data.frame)
    np.testing.assert_allclose(subject.scores, truth > 0.5 if kind == "label" else truth, atol=1e-12)
    assert subject.score_kind == kind


def test_integer_labels_are_labels_where_they_are_no_probabilities(make_data, people, scorer):
    frame = people.assign(hired=np.where(people["hired"] == "yes", 1, 2))
    scorer.answer = lambda rows: [1 if probability(row) > 0.5 else 2 for row in rows]
    subject = make_subject(make_data(frame, favorable=1), spec(scorer))
    np.testing.assert_array_equal(subject.scores, expected(frame) > 0.5)
    assert subject.score_kind == "label"
    scorer.answer = lambda rows: [1] * len(rows)
    assert make_subject(make_data(frame, favorable=1), spec(scorer)).decisions.all()


@pytest.mark.parametrize("one", ["0", "1"])
def test_a_chance_of_one_class_is_of_the_class_that_it_names(make_data, people, scorer, one):
    frame = people.assign(hired=(people["hired"] == "yes").astype(int))
    scorer.answer = lambda rows: [
        {one: probability(row) if one == "1" else 1 - probability(row)} for row in rows
    ]
    subject = make_subject(make_data(frame, favorable=1), spec(scorer))
    np.testing.assert_allclose(subject.scores, expected(frame), rtol=0, atol=1e-15)


def test_classes_can_be_put_in_order(make_data, people, scorer):
    data = make_data(people)
    subject = make_subject(data, ModelSpec(endpoint=Endpoint(scorer.url), classes=("yes", "no")))
    np.testing.assert_allclose(subject.scores, 1 - expected(data.frame), atol=1e-15)


def test_without_a_label_the_answer_is_the_chance_of_the_favourable_outcome(make_data, people, scorer):
    data = make_data(people.drop(columns="hired"), label=None, favorable=None)
    subject = make_subject(data, spec(scorer), threshold=0.7)
    np.testing.assert_array_equal(subject.scores, expected(data.frame))
    np.testing.assert_array_equal(subject.decisions, expected(data.frame) >= 0.7)
    assert subject.score_kind == "probability"
    assert subject.favorable_score(data.frame.head(0)).shape == (0,)


def test_a_number_that_the_label_is_cut_from(make_data, people, scorer):
    scorer.answer = lambda rows: [row["age"] * 1.5 for row in rows]
    data = make_data(people, label=LabelCut("income", at_least=50.0), favorable=None)
    subject = make_subject(data, ModelSpec(endpoint=Endpoint(scorer.url), predict="label"))
    np.testing.assert_allclose(subject.scores, data.frame["age"] * 1.5)
    np.testing.assert_array_equal(subject.decisions, data.frame["age"] * 1.5 >= 50)


def test_an_audit_asks_about_people_who_do_not_exist(make_data, people, scorer):
    data = make_data(people.head(60))
    subject = make_subject(data, spec(scorer))
    before = len(scorer.requests)
    found = loss_ratio(subject, LossRatioOptions(sensitive=("sex",), steps=2))
    assert found.statistic.value >= 1
    incomes = {row["income"] for body in scorer.requests[before:] for row in body["instances"]}
    assert len(incomes - set(people["income"])) > 60, "each person's gradient is by finite differences"


def test_a_service_that_is_never_the_same_is_told(make_data, people, scorer):
    steady = make_subject(make_data(people), spec(scorer)).notes
    draws = np.random.default_rng(0)
    scorer.answer = lambda rows: draws.random(len(rows)).tolist()
    subject = make_subject(make_data(people), spec(scorer))
    assert len(subject.notes) > len(steady)


def test_the_digest_is_of_address_version_and_scores(make_data, people, scorer):
    data = make_data(people)
    first = make_subject(data, spec(scorer)).model.sha256
    assert make_subject(data, spec(scorer)).model.sha256 == first
    assert make_subject(data, spec(scorer, version="2")).model.sha256 != first
    scorer.answer = lambda rows: [0.25] * len(rows)
    assert make_subject(data, spec(scorer)).model.sha256 != first


def test_a_busy_service_is_asked_again_and_a_token_is_sent(make_data, people, scorer, monkeypatch):
    monkeypatch.setenv("EVENHAND_ENDPOINT_TOKEN", "s3cret")
    scorer.status = [503, 429]
    data = make_data(people)
    np.testing.assert_allclose(make_subject(data, spec(scorer)).scores, expected(data.frame), atol=1e-15)
    assert {headers["Authorization"] for headers in scorer.headers} == {"Bearer s3cret"}


@pytest.mark.parametrize(
    ("told", "match"),
    [
        ({"status": [500]}, "500"),
        ({"status": [302], "location": "http://example.org/"}, "302"),
        ({"raw": b"<html>"}, "JSON"),
        ({"raw": b"[" * 100_000}, "JSON"),
        ({"answer": lambda rows: {"result": [1.0]}}, "'result'"),
        ({"answer": lambda rows: [0.5]}, "400"),
        ({"answer": lambda rows: 0.5}, "400"),
        ({"answer": lambda rows: [1.5] * len(rows)}, "400 of 400"),
        ({"answer": lambda rows: [None, *[0.5] * (len(rows) - 1)]}, r"1 of 400 .*\(row 1\)"),
        ({"answer": lambda rows: [[0.5], *[0.5] * (len(rows) - 1)]}, r"\(rows 2, 3, 4 …"),
        ({"answer": lambda rows: [[0.5, 0.5], *[[1.0]] * (len(rows) - 1)]}, ""),
        ({"answer": lambda rows: [[0.9, 0.9]] * len(rows)}, ""),
        ({"answer": lambda rows: [[0.2, 0.3, 0.5]] * len(rows)}, " 3 "),
        ({"answer": lambda rows: ["maybe"] * len(rows)}, "'maybe'"),
        ({"answer": lambda rows: [{"yes": "a"}] * len(rows)}, ""),
    ],
)  # fmt: skip
def test_a_wrong_answer_is_one_sentence(make_data, people, scorer, told, match):
    for name, value in told.items():
        setattr(scorer, name, value)
    with pytest.raises(InputError, match=match):
        make_subject(make_data(people), spec(scorer))


def test_nobody_at_the_address(make_data, people, scorer):
    with refused("model.endpoint.url", "127.0.0.1"):
        make_subject(make_data(people), model_spec({"endpoint": {"url": "http://127.0.0.1:9/score"}}))


def test_an_answer_that_does_not_come(make_data, people, scorer):
    wait = threading.Event()
    scorer.answer = lambda rows: wait.wait(20)
    with refused("model.endpoint.url", "timed out"):
        make_subject(make_data(people), spec(scorer, timeout=0.05))
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
def test_only_allowed_hosts_are_asked(make_data, people, monkeypatch, hosts, url):
    if hosts is None:
        monkeypatch.delenv("EVENHAND_ENDPOINT_HOSTS", raising=False)
    else:
        monkeypatch.setenv("EVENHAND_ENDPOINT_HOSTS", hosts)
    with refused("model.endpoint.url"):
        make_subject(make_data(people), ModelSpec(endpoint=Endpoint(url)))


def test_an_allowed_host_is_asked(make_data, people, scorer, monkeypatch):
    monkeypatch.setenv("EVENHAND_ENDPOINT_HOSTS", f"other.example.org, {scorer.url.split('/')[2]}")
    assert make_subject(make_data(people), spec(scorer)).scores.shape == (400,)
