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
from skl2onnx import to_onnx
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

import audits
from audits import notebook
from audits.errors import InputError
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused

SPEED = {"bootstrap": 0}


def groups(model, X, y=None, **options):
    return audits.audit(model, X, y, audits={"groups": SPEED}, **options)


def without_words(each):
    """Return a result's JSON without its texts: a finding names the model."""
    if isinstance(each, dict):
        return {key: without_words(value) for key, value in each.items()}
    if isinstance(each, list):
        return [without_words(value) for value in each]
    return None if isinstance(each, str) else each


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
    assert without_words(ours["audits"]) == without_words(theirs["audits"])
    model = audits.audit(pipeline, frame, hired, **told | {"audits": chosen[:1]}).to_json()
    assert without_words(model["audits"][0]["table"]) == without_words(theirs["audits"][0]["table"])


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_each_library_s_table_reaches_the_model_as_it_is(crowd, form):
    frame, hired = crowd
    frame = frame.assign(years=pd.array([None, *range(1, 400)], dtype="Int16"))
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
    frame = frame.assign(paid=pd.array([None, True, False, True] * 25, dtype="boolean"))

    def model(table):
        assert table.dtypes.drop(["age", "income"]).equals(frame.dtypes.drop(["age", "income"]))
        assert table["age"].dtype.kind in "if"
        return 1 / (1 + np.exp(-(table["income"] + (table["job"] == "judge"))))

    asked = {"sensitivity": {"protected": "sex", "bootstrap": 100, "match_set": "off"}}
    subject = audits.audit(model, frame, hired, favorable=1, protected="sex", audits=asked).subject
    assert subject.differentiable is None
    assert "sex" not in subject.data.features  # the function does not read it


def test_models_of_every_kind_are_asked_for_their_own_scores(crowd, pipeline):
    frame, hired = crowd
    X, words, pay = frame[["age", "income"]], np.where(hired, "yes", "no"), 3 * frame["income"].to_numpy() + 5
    machine, line = LinearSVC().fit(X, hired), LinearRegression().fit(X, pay)
    holed = frame.assign(income=frame["income"].where(frame.index % 7 > 0))
    read, boosting = holed.drop(columns="sex"), HistGradientBoostingClassifier(max_iter=20)
    boosting.set_params(categorical_features="from_dtype").fit(read, hired)
    odds, margin = pipeline.predict_proba(frame), machine.decision_function(X)

    def by_class(table):
        return pd.DataFrame(pipeline.predict_proba(table)[:, ::-1], columns=[1, 0])

    for model, table, y, favorable, kind, expected in (
        (machine, frame, hired, 1, "number", margin),
        (machine, frame, hired, 0, "number", -margin),
        (line, frame, pay, {"at_least": 6.0}, "number", line.predict(X)),
        (lambda t: np.where(t["income"] > 0, "yes", "no"), frame, words, "yes", "label", frame["income"] > 0),
        (by_class, frame, hired, 0, "probability", odds[:, 0]),
        (by_class, frame, None, 1, "probability", odds[:, 1]),
        (boosting, holed, hired, 1, "probability", boosting.predict_proba(read)[:, 1]),
        (lambda t: t.income.isna() * 0.7, holed, hired, 1, "probability", holed.income.isna() * 0.7),
    ):
        subject = groups(model, table, y, favorable=favorable, protected="sex").subject
        assert subject.score_kind == kind
        np.testing.assert_allclose(subject.scores, expected, rtol=0, atol=1e-12)
    some = np.where(frame.index < 40, None, words)
    with refused("function", "40 of 400"):  # None is none of the classes
        groups(lambda table: some[: len(table)], frame, words, favorable="yes", protected="sex")


def test_which_of_1_and_2_a_single_output_is_of_is_asked_where_it_shows(crowd, pipeline):
    """A probability of 1, the good one as in German credit, would be read as one of 2."""
    frame, hired = crowd
    asked = {"favorable": 1, "protected": "sex"}

    def chance(table):
        return pipeline.predict_proba(table)[:, 1]

    with refused("classes"):
        groups(chance, frame, 2 - hired, **asked)
    told = groups(chance, frame, 2 - hired, classes=[2, 1], **asked)
    np.testing.assert_array_equal(told.subject.scores, chance(frame))


def test_matrices_and_networks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    y, sex = np.where(X[:, 0] > 0, "yes", "no"), rng.choice(["f", "m"], 300)
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)).train()
    with torch.no_grad():
        expected = torch.sigmoid(-network(torch.from_numpy(X))[:, 0].double()).numpy()
    said = {"favorable": "no", "classes": ["no", "yes"], "protected": {"sex": sex}}
    ended = torch.nn.Sequential(network, torch.nn.Sigmoid())
    for model, more in ((network, {"output": "logits"}), (ended, {})):
        subject = groups(model, X, y, **more, **said).subject
        np.testing.assert_allclose(subject.scores, expected, atol=1e-6)
        assert subject.differentiable is not None
    assert network.training, "the user's own network stays in the mode it was in"
    tracked = torch.sigmoid(network(torch.from_numpy(X).requires_grad_()))
    for scores in (tracked, tracked.detach().bfloat16()):
        told = groups(None, torch.from_numpy(X).requires_grad_(), y, scores=scores, **said).subject
        np.testing.assert_allclose(told.scores, tracked.detach().numpy()[:, 0], atol=0.01)


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
    named = [(frame, "sex"), (frame, ["sex"])]
    forms = [*named, *((X, each) for each in ({"sex": sex.tolist()}, sex, [sex], sex.to_frame()))]
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
    alone, persons = (groups(pipeline, frame, hired, person=each, **told) for each in (None, who))
    assert persons.spec["data"]["person"] == "person"
    assert any("of 100 persons" in note for note in persons.data["notes"])
    rates = [[row.selection_rate.value for row in each["groups"].table] for each in (persons, alone)]
    assert rates[0] == pytest.approx(rates[1])
    weights = {"column": np.random.default_rng(0).lognormal(size=len(frame)), "kind": "sampling"}
    weighed = groups(pipeline, frame, hired, weights={**weights, "cluster": who}, **told)
    assert weighed.spec["data"]["weights"] == {"column": "weights", "cluster": "cluster", "kind": "sampling"}
    tables = (weighed["groups"].table, alone["groups"].table)
    assert all(row.n < before.n for row, before in zip(*tables, strict=True))
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


def test_a_model_file_has_the_scores_of_its_model(crowd, tmp_path) -> None:
    (frame, hired), path = crowd, tmp_path / "model.onnx"
    read = frame[["income", "age"]]
    model = LogisticRegression().fit(read.to_numpy(), hired)
    exported = to_onnx(model, read.to_numpy("float32")[:1], options={"zipmap": False})
    path.write_bytes(exported.SerializeToString())
    told = {"favourable": 1, "protected": "sex"}
    with pytest.raises(InputError, match=r"columns=\["):
        groups(path, frame, hired, **told)
    opened = groups(path, frame, hired, columns=["income", "age"], **told)
    np.testing.assert_allclose(opened.subject.scores, model.predict_proba(read.to_numpy())[:, 1], atol=1e-6)
    assert opened.spec["model"]["columns"] == ["income", "age"]
