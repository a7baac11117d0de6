"""The frontier of accuracy and gap: points by hand, wrapped estimators, files of the chosen."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import evenhand
from audits.mitigation.estimators import GroupThresholds, ReducedMixture, ReweighedEstimator, group_cuts
from audits.mitigation.sections import section
from tests.refused import refused


def people(n: int = 1600, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"skill": rng.normal(size=n), "years": rng.normal(size=n)})
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["skill"] += 0.8 * (frame["sex"] == "m")
    return frame, (frame["skill"] + frame["years"] + rng.normal(size=n) > 0.4).astype(int)


READS = ["skill", "years"]


@pytest.fixture(scope="module")
def found():
    frame, y = people()
    return evenhand.mitigate(LogisticRegression(), frame, y, "sex", columns=READS, accuracy_lost=0.05)


def test_each_point_is_its_estimator_on_the_people_held_out(found):
    data = found.subject.data
    result = found["mitigation"]
    assert len(found.estimators) == len(result.frontier) >= 8
    assert {point.method for point in result.frontier} == {
        "as it was", "thresholds", "reweighing", "reductions", "retraining",
    }  # fmt: skip
    frame, sex, y = data.frame, data.groups["sex"].to_numpy(), data.frame[data.label]
    for estimator, point in zip(found.estimators, result.frontier, strict=True):
        reads = [*READS, "sex"] if point.method == "thresholds" else READS
        decided = estimator.predict(frame[reads])
        assert point.accuracy.value == pytest.approx(accuracy_score(y, decided))
        rates = [decided[sex == each].mean() for each in "fm"]
        assert point.gap.value == pytest.approx(abs(rates[0] - rates[1]))
        assert point.accuracy.low < point.accuracy.value < point.accuracy.high
        assert point.gap.low <= point.gap.value <= point.gap.high
    training = found.subject.training
    assert not set(training.frame.index) & set(data.frame.index)


def test_the_chosen_point_has_the_smallest_gap_that_the_loss_allows(found):
    result = found["mitigation"]
    first, best = result.frontier[0], result.frontier[result.best]
    assert best.gap.value < first.gap.value - 0.1
    assert best.accuracy.value >= first.accuracy.value - 0.05
    allowed = [each for each in result.frontier if each.accuracy.value >= first.accuracy.value - 0.05]
    assert best.gap.value == min(each.gap.value for each in allowed)
    assert found.estimator is found.estimators[result.best]


def test_the_frontier_is_in_results_tables_and_figures(found, tmp_path):
    found.save(tmp_path / "run")
    kept = evenhand.load(tmp_path / "run")
    assert kept["mitigation"].frontier == found["mitigation"].frontier
    part = found.to_json()["audits"][0]
    assert part["frontier"][0]["gap"].keys() >= {"value", "low", "high", "n", "method"}
    assert list(found.to_frame()["chosen"]).count(True) == 1
    exhibits = {each.key: each for each in section(found["mitigation"]).exhibits}
    drawn = exhibits["frontier"].figure()
    marks = sum(len(trace.x) for trace in drawn.data if trace.mode == "markers")
    assert marks == len(found.frontier)
    found.report(tmp_path / "report.html")
    assert found.frontier[-1].name in (tmp_path / "report.html").read_text()


def test_a_pickle_keeps_the_estimators(found):
    back = pickle.loads(pickle.dumps(found))
    rows = pd.DataFrame({name: [0.0, 1.0] for name in back.reads})
    np.testing.assert_array_equal(back.estimator.predict(rows), found.estimator.predict(rows))
    assert back.to_frame().equals(found.to_frame())
    assert back.subject is None


def wrapped() -> list:
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    return [
        GroupThresholds(LogisticRegression(), "sex", columns=READS),
        GroupThresholds(LogisticRegression(), "sex", columns=READS, measure="true_positive_rate", share=0.5),
        ReweighedEstimator(pipeline, "sex", columns=READS),
        ReducedMixture(pipeline, "sex", columns=READS, rounds=5),
    ]


@pytest.mark.parametrize("estimator", wrapped(), ids=lambda each: type(each).__name__)
def test_wrapped_estimators_follow_scikit_learn(estimator):
    frame, y = people(600)
    label = np.where(y == 1, "yes", "no")
    fitted = clone(estimator).fit(frame, label)
    chances = fitted.predict_proba(frame)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert list(fitted.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(fitted.predict(frame), np.where(chances[:, 1] >= 0.5, "yes", "no"))
    assert clone(fitted).get_params().keys() == estimator.get_params().keys()
    turned = clone(estimator).set_params(favorable="no").fit(frame, label)
    assert turned.predict_proba(frame).shape == (600, 2)
    assert fitted.score(frame, label) > 0.6


def test_thresholds_by_hand():
    chance = np.array([0.9, 0.8, 0.7, 0.2, 0.6, 0.4, 0.3, 0.1])
    groups = np.array(list("aaaabbbb"))
    found = group_cuts(chance, np.ones(8, bool), groups, measure="selection_rate", share=1.0)
    assert found == pytest.approx({"a": 0.75, "b": 0.35})  # two of four each, as of all
    half = group_cuts(chance, np.ones(8, bool), groups, measure="selection_rate", share=0.0)
    assert half == {"a": 0.5, "b": 0.5}


def test_what_an_estimator_does_not_allow_is_told_and_the_rest_is_made():
    frame, y = people(700)
    sex, methods = {"sex": frame["sex"]}, ["thresholds", "reweighing", "reductions"]
    found = evenhand.mitigate(KNeighborsClassifier(25), frame[READS], y, sex, methods=methods)
    assert set(found.not_made) == set(methods)
    assert [point.method for point in found.frontier] == ["as it was"]


@pytest.mark.parametrize("ending", ["skops", "onnx"])
def test_the_chosen_estimator_is_exported_and_scores_alike(ending, tmp_path):
    frame, y = people(800)
    sex, asked = {"sex": frame["sex"]}, {"methods": ["reweighing"], "accuracy_lost": 1.0}
    found = evenhand.mitigate(LogisticRegression(), frame[READS], y, sex, **asked)
    path = found.export(tmp_path / f"model.{ending}")
    if ending == "onnx":
        import onnxruntime

        session = onnxruntime.InferenceSession(path.read_bytes())
        told = session.run(None, {session.get_inputs()[0].name: frame[READS].to_numpy(np.float32)})[1]
    else:
        import skops.io

        kinds = skops.io.get_untrusted_types(file=path)
        told = skops.io.load(path, trusted=kinds).predict_proba(frame[READS])
    np.testing.assert_allclose(told, found.estimator.predict_proba(frame[READS]), atol=1e-5)


def test_what_has_no_onnx_form_says_so(found, tmp_path):
    assert isinstance(found.estimator, GroupThresholds)
    for name in ("model.onnx", "model.pkl"):
        with refused("path", "skops"):
            found.export(tmp_path / name)


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"estimator": object()}, ("estimator", "predict_proba")),
        ({"y": np.arange(400)}, ("y",)),
        ({"measure": "selection"}, ("measure",)),
        ({"methods": ["thresholding"]}, ("methods[0]",)),
        ({"by": "race"}, ("mitigation.by",)),
        ({"columns": ["skill", "sex"]}, ("estimator", "columns")),
        ({"columns": ["skil"]}, ("columns",)),
        ({"protected": "gender"}, ("protected",)),
        ({"test_size": 1.5}, ("data.test_size",)),
    ],
)
def test_wrong_input_is_refused_by_its_name(change: dict, refusal: tuple[str, ...]):
    frame, y = people(400)
    told = {"estimator": LogisticRegression(), "X": frame, "y": y, "protected": "sex", "columns": READS}
    with refused(*refusal):
        evenhand.mitigate(**{**told, **change})


@pytest.mark.parametrize("method", [GroupThresholds, ReducedMixture])
def test_an_exported_estimator_is_audited_from_its_file(method, tmp_path):
    import skops.io

    frame, y = people(600)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    fitted = method(pipeline, "sex", columns=READS).fit(frame, y)
    path = tmp_path / "model.skops"
    path.write_bytes(skops.io.dumps(fitted))
    one, other = (
        evenhand.audit(model, frame, y, favorable=1, protected="sex", audits=["groups"])["groups"]
        for model in (path, fitted)
    )
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())
