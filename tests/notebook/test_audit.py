"""`audits.audit`: any model and any table, with the model's own scores and a spec's numbers."""

from __future__ import annotations

import dataclasses
import json
import re

import IPython.display
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import audits
from audits import notebook
from audits.errors import InputError
from audits.models.networks.gradients import logits_over
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused

SPEED = {"bootstrap": 0}


def groups(model, X, y=None, **options):
    return audits.audit(model, X, y, audits={"groups": SPEED}, **options)


def alike(ours, theirs, where=""):
    """Hold two results' JSON against each other, number by number; a finding names the model."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), where
        for key in theirs:
            alike(ours[key], theirs[key], f"{where}.{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for place, each in enumerate(theirs):
            alike(ours[place], each, f"{where}[{place}]")
    elif not isinstance(theirs, str):
        assert ours == theirs, where


def test_same_numbers_as_a_spec_on_a_column(crowd, pipeline, tmp_path):
    frame, hired = crowd
    frame = frame.assign(member=frame["member"].astype(int))  # a file has no truth values of its own
    scores = pipeline.predict_proba(frame)[:, 1]
    frame.assign(hired=hired, score=scores).to_csv(tmp_path / "people.csv", index=False)
    section = {"path": "people.csv", "label": "hired", "favorable": 1, "protected": ["sex"]}
    features = ["age", "income", "job", "member"]
    sides = {"source": {"sex": "f"}, "target": {"sex": "m"}}
    chosen = [
        {"groups": {"bootstrap": 100}},
        {"flipset": {**sides, "permutations": 19, "bootstrap": 100, "noise_people": 60}},
    ]
    spec = {"data": section | {"features": features}, "model": {"predictions": {"score": "score"}}}
    theirs = execute(parse_spec(spec | {"audits": chosen, "seed": 3}, tmp_path)).to_json()
    told = {"favorable": 1, "protected": "sex", "features": features, "audits": chosen, "seed": 3}
    ours = audits.audit(None, frame, pd.Series(hired, name="hired"), scores=scores, **told).to_json()
    alike(ours["audits"], theirs["audits"])
    model = audits.audit(pipeline, frame, hired, **told | {"audits": chosen[:1]}).to_json()
    alike(model["audits"][0]["table"], theirs["audits"][0]["table"])


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_each_library_s_table_reaches_the_model_as_it_is(crowd, form):
    frame, hired = crowd
    made = {"pandas": lambda each: each, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}
    native, seen = made[form](frame), []

    def model(table):
        seen.append(table)
        return 1 / (1 + np.exp(-table["income"].to_numpy()))

    found = groups(model, native, hired, favorable=1, protected="sex")
    expected = 1 / (1 + np.exp(-frame["income"].to_numpy()))
    np.testing.assert_allclose(found.subject.scores, expected, rtol=0, atol=1e-15)
    for table in seen:
        assert type(table) is type(native)
        if form == "pandas":
            assert table.dtypes.equals(frame.dtypes)
            assert table["job"].cat.categories.tolist() == ["nurse", "judge", "cook"]
        else:
            types = [each.schema if form == "polars" else each.schema.types for each in (table, native)]
            assert types[0] == types[1]


def test_moved_people_keep_the_types_of_the_table(crowd):
    """Differences move numbers and categories; the model still gets its own kinds of cells."""
    frame, hired = (each[:100] for each in crowd)

    def model(table):
        assert table["job"].dtype == frame["job"].dtype
        assert table["age"].dtype.kind in "if"
        assert table["member"].isin([True, False]).all()
        return 1 / (1 + np.exp(-(table["income"] + (table["job"] == "judge"))))

    asked = {"sensitivity": {"protected": "sex", "bootstrap": 100, "match_set": "off"}}
    subject = audits.audit(model, frame, hired, favorable=1, protected="sex", audits=asked).subject
    assert subject.differentiable is None
    assert "sex" not in subject.data.features  # the function does not read it


def test_boosting_with_native_categories_scores_as_itself(crowd):
    frame, hired = crowd
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=20)
    X = frame.drop(columns="sex")
    X.loc[::7, "income"] = np.nan
    model.fit(X, hired)
    found = groups(model, X, hired, favorable=1, protected={"sex": frame["sex"]})
    np.testing.assert_allclose(found.subject.scores, model.predict_proba(X)[:, 1], rtol=0, atol=1e-12)


def test_matrices_and_networks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    y, sex = np.where(X[:, 0] > 0, "yes", "no"), rng.choice(["f", "m"], 300)
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    network.train()
    said = {"favorable": "no", "classes": ["no", "yes"], "protected": {"sex": sex}}
    subject = groups(network, X, y, output="logits", **said).subject
    with torch.no_grad():
        expected = torch.sigmoid(-network(torch.from_numpy(X))[:, 0].double()).numpy()
    np.testing.assert_allclose(subject.scores, expected, atol=1e-6)
    assert subject.differentiable is not None
    assert network.training, "the user's own network stays in the mode it was in"
    same = groups(torch.nn.Sequential(network, torch.nn.Sigmoid()), X, y, **said)
    np.testing.assert_allclose(same.subject.scores, expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["lines", "network", "forest"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_gradient_is_the_slope_of_the_model_itself(crowd, pipeline, kind):
    frame, hired = crowd
    if kind == "forest":
        forest = RandomForestClassifier(5, random_state=0).fit(frame[["age", "income"]], hired)
        assert groups(forest, frame, hired, favorable=1, protected="sex").subject.differentiable is None
        return
    network = MLPClassifier((8,), activation="tanh", max_iter=30, random_state=0)
    network = make_pipeline(StandardScaler(), network)
    model = pipeline if kind == "lines" else network.fit(frame[["age", "income"]], hired)
    subject = groups(model, frame, hired, favorable=0, protected="sex").subject
    own = model.predict_proba(frame[model.feature_names_in_])[:, 0]
    np.testing.assert_allclose(subject.scores, own, atol=1e-12)
    z = torch.from_numpy(subject.space.encode(subject.data.frame)[:20]).requires_grad_()
    logits_over(subject.differentiable, subject.space, subject.data.frame)(z).sum().backward()
    moved = subject.data.frame.iloc[:20].copy()
    moved["income"] += 1e-4 * subject.space.scale["income"][1]
    p, q = own[:20], subject.favorable_score(moved)
    slope = (np.log(q / (1 - q)) - np.log(p / (1 - p))) / 1e-4
    at = subject.space.blocks["income"].start
    np.testing.assert_allclose(z.grad[:, at].numpy(), slope, rtol=1e-3)


def test_decision_functions_labels_and_numbers(crowd):
    frame, hired = crowd
    X = frame[["age", "income"]]
    machine = LinearSVC().fit(X, hired)
    for favorable, sign in ((1, 1), (0, -1)):
        found = groups(machine, frame, hired, favorable=favorable, protected="sex")
        assert found.subject.score_kind == "number"
        np.testing.assert_array_equal(found.subject.scores, sign * machine.decision_function(X))
        agree = found.subject.decisions == (machine.predict(X) == favorable)
        assert agree.all()
    labels = groups(lambda table: np.where(table["income"] > 0, "yes", "no"), frame,
                    np.where(hired, "yes", "no"), favorable="yes", protected="sex")  # fmt: skip
    assert labels.subject.score_kind == "label"
    assert (labels.subject.decisions == (frame["income"] > 0)).all()
    pay = 3 * frame["income"].to_numpy() + 5
    line = LinearRegression().fit(X, pay)
    number = groups(line, frame, pay, favorable={"at_least": 6.0}, protected="sex")
    assert (number.subject.decisions == (line.predict(X) >= 6.0)).all()


def test_a_person_without_a_label_is_none_of_the_classes(crowd):
    frame, hired = crowd
    y = np.where(hired, "yes", "no")
    said = np.where(hired, "yes", "no").astype(object)
    said[:40] = None
    for answers in (said, pd.Series(said)):
        with refused("function", "40 of 400"):
            groups(lambda table, got=answers: got[: len(table)], frame, y, favorable="yes", protected="sex")


def test_which_of_1_and_2_a_single_output_is_of_is_asked_where_it_shows(crowd, pipeline):
    """A probability of 1, the good one as in German credit, would be read as one of 2."""
    frame, hired = crowd

    def chance(table):
        return pipeline.predict_proba(table)[:, 1]

    options = {"favorable": 1, "protected": "sex"}
    with refused("classes"):
        groups(chance, frame, 2 - hired, **options)
    told = groups(chance, frame, 2 - hired, classes=[2, 1], **options)
    expected = groups(pipeline, frame, hired, **options)
    np.testing.assert_array_equal(told.subject.scores, expected.subject.scores)


@pytest.mark.parametrize("favorable", [1, 0])
def test_a_frame_of_answers_names_its_classes(crowd, pipeline, favorable):
    frame, hired = crowd
    odds = pipeline.predict_proba(frame)
    for y in (hired, None):
        found = groups(
            lambda table: pd.DataFrame(pipeline.predict_proba(table)[:, ::-1], columns=[1, 0]),
            frame, y, favorable=favorable, protected="sex",
        )  # fmt: skip
        np.testing.assert_array_equal(found.subject.scores, odds[:, favorable])


def test_stored_predictions_and_what_they_allow(crowd, monkeypatch):
    """Who names no audit gets those that the data allow, and is told why others did not run."""
    frame, hired = (each[:30] for each in crowd)
    guessed = (frame["income"] > 0.5).to_numpy().astype(int)
    told = {"favorable": 1, "protected": "sex", "predictions": guessed}
    carry_out = notebook.carry_out

    def but_flipset(request, *more):
        if request.name == "flipset":
            raise InputError("flipset", "must have more people")
        return carry_out(request, *more)

    monkeypatch.setattr(notebook, "carry_out", but_flipset)
    found = audits.audit(None, frame, hired, **told)
    assert (found.subject.decisions == guessed).all()
    assert {each.name for each in found.audits} == {"groups", "outcome_transport", "rule_sets"}
    assert set(found.not_run) == {"flipset"}
    with pytest.raises(InputError):
        audits.audit(None, frame, hired, audits=["groups", "flipset"], **told)


def test_protected_attributes_in_every_form(crowd, pipeline):
    frame, hired = crowd
    X, sex = frame.drop(columns="sex"), frame["sex"]
    forms = [
        (frame, "sex"),
        (frame, ["sex"]),
        (X, {"sex": sex.tolist()}),
        (X, sex),
        (X, [sex]),
        (X, sex.to_frame()),
    ]
    tables = [groups(pipeline, table, hired, favorable=1, protected=each)["groups"].to_json()["table"]
              for table, each in forms]  # fmt: skip
    assert all(table == tables[0] for table in tables)


def test_what_a_result_offers(crowd, pipeline, tmp_path, capsys):
    frame, hired = crowd
    found = groups(pipeline, frame, hired, favorable=1, protected="sex")
    result = found["groups"]
    for told in (result, found):  # of its only audit
        capsys.readouterr()
        told.explain()
        assert capsys.readouterr().out.startswith(f"{result.judged.badge_text}. {result.finding}\n\n")
    assert "evenhand.audit" in found.report(tmp_path / "x.html").read_text(encoding="utf-8")
    assert found.report(tmp_path / "x.md").read_text(encoding="utf-8").startswith("---\n")
    twice = dataclasses.replace(found, audits=found.audits * 2)
    assert twice.figures["groups-2/rates_sex"].data
    assert found.verdicts["verdict"].tolist() == [result.verdict]
    assert result.judged.badge_text in found._repr_html_()
    assert re.search("Pipeline.* LogisticRegression", found._repr_html_())
    with refused("path"):
        found.report(tmp_path / "x.docx")
    with refused("audit", "'groups'"):
        found["group"]


def test_a_notebook_shows_a_result_with_its_first_figure(monkeypatch):
    people, shown = pd.DataFrame({"sex": ["f", "m"] * 100, "hired": [0, 1, 1, 1] * 50}), []
    monkeypatch.setattr(IPython.display, "display", lambda what, **_: shown.append(what))
    found = groups(None, people, "hired", predictions="hired", favorable=1, protected="sex")
    for each in (found["groups"], found.audits[0], found):
        each._ipython_display_()
        said, drawn = shown[-2:]
        assert "<table" in said.data
        figure = drawn["application/vnd.plotly.v1+json"]
        assert "“f”" in json.dumps([figure["data"], figure["layout"]["yaxis"]], ensure_ascii=False)
        assert set(figure["data"][0]["meta"]) == {"value", "low", "high"}
        assert drawn["image/svg+xml"].startswith("<svg")
        assert "“f”" in drawn["image/svg+xml"]


def test_rows_of_one_person_and_sampling_weights_are_said_as_in_a_spec(crowd, pipeline):
    frame, hired = crowd
    who, told = np.repeat(np.arange(len(frame) // 4), 4), {"favorable": 1, "protected": "sex"}
    alone, persons = (
        groups(pipeline, frame, hired, **told),
        groups(pipeline, frame, hired, person=who, **told),
    )
    assert persons.spec["data"]["person"] == "person"
    assert any("of 100 persons" in note for note in persons.data["notes"])
    rates = [[row.selection_rate.value for row in each["groups"].table] for each in (persons, alone)]
    assert rates[0] == pytest.approx(rates[1])
    weights = {"column": np.random.default_rng(0).lognormal(size=len(frame)), "kind": "sampling"}
    weighed = groups(pipeline, frame, hired, weights={**weights, "cluster": who}, **told)
    assert weighed.spec["data"]["weights"] == {"column": "weights", "cluster": "cluster", "kind": "sampling"}
    assert all(
        row.n < before.n for row, before in zip(weighed["groups"].table, alone["groups"].table, strict=True)
    )
    with refused("audits['recourse']"):
        audits.audit(pipeline, frame, hired, weights=weights, audits="recourse", **told)


def test_numbers_that_are_no_probabilities_need_a_threshold():
    """Cut at 0, a line through labels of 0 and 1 would favor nearly everyone."""
    rng = np.random.default_rng(0)
    x, sex = pd.DataFrame({"hours": rng.normal(size=200)}), ["f", "m"] * 100
    y = (x["hours"] + rng.normal(size=200) > 0).astype(int)
    line = LinearRegression().fit(x, y)
    with refused("threshold", "LinearRegression"):
        groups(line, x, y, favorable=1, protected={"sex": sex})
    found = groups(line, x, y, favorable=1, protected={"sex": sex}, threshold=0.5)
    assert found.subject.decisions.mean() == (line.predict(x) >= 0.5).mean()
