"""What goes to and comes from Fairlearn, scikit-learn's scorers and MLflow agrees with them and with us."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import numpy as np
import pandas as pd
import pytest
import sklearn
from fairlearn.metrics import (
    MetricFrame,
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    selection_rate,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import cross_validate

import audits
from audits.connect import from_metricframe, log_to_mlflow, scorer, to_metricframe
from tests.refused import refused
from tests.test_snippets import ROOT, blocks

N = 400


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], N), "age": rng.integers(20, 70, N)})
    frame["skill"] = rng.normal(size=N) + 0.7 * (frame["sex"] == "m")
    frame["hired"] = (frame["skill"] + rng.normal(size=N) > 0.3).astype(int)
    frame["weight"] = rng.integers(1, 4, N)
    return frame


@pytest.fixture(scope="module")
def model(people):
    return LogisticRegression().fit(people[["skill", "age"]], people["hired"])


@pytest.fixture(scope="module")
def found(people, model):
    return audits.audit(
        model, people[["skill", "age"]], people["hired"], favorable=1,
        protected={"sex": people["sex"]}, weights=people["weight"].to_numpy(), audits="groups",
    )  # fmt: skip


def test_a_metricframe_of_the_people_audited(found, people, model):
    frame = to_metricframe(found, {"recall": recall_score, "selected": selection_rate})
    own = MetricFrame(
        metrics={"recall": recall_score, "selected": selection_rate},
        y_true=people["hired"],
        y_pred=model.predict(people[["skill", "age"]]),
        sensitive_features=people["sex"],
        sample_params={name: {"sample_weight": people["weight"]} for name in ("recall", "selected")},
    )
    pd.testing.assert_frame_equal(frame.by_group, own.by_group)
    usual = to_metricframe(found).by_group
    for row in found["groups"].table:
        if row.attribute == "sex":
            for name in usual.columns:
                assert usual.loc[row.group, name] == pytest.approx(row.metric(name).value, abs=1e-12)
    with refused("by"):
        to_metricframe(found, by="age")


def test_what_a_metricframe_takes_is_audited(found, people, model):
    again = from_metricframe(
        y_true=people["hired"],
        y_pred=model.predict(people[["skill", "age"]]),
        sensitive_features=people["sex"],
        sample_params={"sample_weight": people["weight"]},
    )
    ours, theirs = ({row.group: row for row in each["groups"].table} for each in (again, found))
    assert {group: row.selection_rate for group, row in ours.items()} == {
        group: row.selection_rate for group, row in theirs.items()
    }
    with refused("y_pred and sensitive_features"):
        from_metricframe(y_true=people["hired"])
    table = people[["sex"]].assign(old=people["age"] > 50)
    two = from_metricframe(y_true=people["hired"], y_pred=people["hired"], sensitive_features=table)
    assert {row.attribute for row in two["groups"].table} >= {"sex", "old"}


def test_scorers_agree_with_fairlearn_and_travel_through_cross_validation(people, model):
    table, hired, sex, weight = people[["skill", "age"]], people["hired"], people["sex"], people["weight"]
    theirs = {"y_true": hired, "y_pred": model.predict(table)}
    theirs |= {"sensitive_features": sex, "sample_weight": weight}
    rows = [
        (("selection_rate", "difference"), -demographic_parity_difference(**theirs)),
        (("selection_rate", "ratio"), demographic_parity_ratio(**theirs)),
        (("true_positive_rate", "difference"), -equal_opportunity_difference(**theirs)),
    ]
    some = sex.where(people["age"] > 30)  # of the others nobody knows
    with sklearn.config_context(enable_metadata_routing=True):
        for asked, expected in rows:
            ours = scorer(*asked).set_score_request(sensitive_features=True, sample_weight=True)
            found = ours(model, table, hired, sensitive_features=sex, sample_weight=weight)
            assert found == pytest.approx(expected, abs=1e-12), asked
        scoring = {"gap": scorer(), "worst": scorer("accuracy", "minimum")}
        given = {"scoring": scoring, "params": {"sensitive_features": sex}}
        found = cross_validate(LogisticRegression(), table, hired, cv=3, **given)
        assert (found["test_gap"] < 0).all()
        assert (found["test_worst"] > 0.5).all()
        gap = scorer()(model, table, hired, sensitive_features=some)
        assert gap == scorer()(model, table, hired, sensitive_features=some.fillna("?")) < 0
        beside = sex.where(hired == 1, "of no positive")  # its rate is not defined, and no nought
        assert scorer("true_positive_rate", "minimum")(model, table, hired, sensitive_features=beside) > 0.3
        for alone in ({}, {"sensitive_features": ["all"] * N}):
            with refused("sensitive_features"):
                scorer()(model, table, hired, **alone)
    with refused("metric"):
        scorer("recall")


@pytest.mark.parametrize(
    "page", ["coming-from/fairlearn.md", "coming-from/aif360.md", "coming-from/aequitas.md", "connect.md"]
)
def test_what_the_documentation_shows_runs(page, people, model, mlflow, capsys):
    decision = model.predict(people[["skill", "age"]])
    names = {"X": people[["skill"]], "y": people["hired"], "sex": people["sex"], "decision": decision,
             "people": people[["skill", "age", "sex"]]}  # fmt: skip
    for block in blocks(ROOT / "docs" / page, "python"):
        exec(compile(block, page, "exec"), dict(names))
    if "fairlearn" in page:
        first = capsys.readouterr().out.split()[0]
        assert float(first) == pytest.approx(
            demographic_parity_difference(people["hired"], decision, sensitive_features=people["sex"])
        )


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    while mlflow.active_run() is not None:
        mlflow.end_run()
    mlflow.set_tracking_uri(before)


def test_a_run_is_logged_to_mlflow(found, mlflow):
    with mlflow.start_run() as run:
        log_to_mlflow(found)
    logged, head = mlflow.get_run(run.info.run_id).data, found.audits[0].to_json()
    assert logged.metrics["evenhand.groups"] == head["interval"]["value"]
    assert logged.metrics["evenhand.groups.low"] == head["interval"]["low"]
    assert logged.tags["evenhand.groups.verdict"] == head["verdict"]
    assert logged.tags["evenhand.groups.finding"] == head["headline"]
    drawn = mlflow.MlflowClient().list_artifacts(run.info.run_id, "evenhand/figures/groups")
    assert {each.path for each in drawn} == {f"evenhand/figures/{name}.html" for name in found.figures}


def test_mlflow_evaluates_with_it(people, mlflow):
    from mlflow.models.evaluation.evaluator_registry import _model_evaluation_registry

    entry = EntryPoint("evenhand", "audits.mlflow_evaluator:Evaluator", "mlflow.model_evaluator")
    _model_evaluation_registry.register("evenhand", entry.load())
    table = people[["skill", "age", "sex", "hired"]].assign(said=(people["skill"] > 0).astype(int))
    with mlflow.start_run():
        answer = mlflow.models.evaluate(
            data=table, targets="hired", predictions="said", model_type="classifier", evaluators="evenhand",
            evaluator_config={"protected": "sex", "favorable": 1, "audits": "groups"},
        )  # fmt: skip
    direct = audits.audit(
        None, table[["skill", "age", "sex"]], table["hired"], favorable=1, protected="sex",
        predictions=table["said"], audits="groups",
    )  # fmt: skip
    assert answer.metrics["evenhand.groups"] == direct.audits[0].to_json()["interval"]["value"]
