"""`audits.audit`: any model and any table, with the model's own scores and a spec's numbers."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import audits
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused

SPEED = {"bootstrap": 0}


def groups(model, X, y=None, **options):
    return audits.audit(model, X, y, audits={"groups": SPEED}, **options)


def alike(ours, theirs, where="", *, tolerance=0.0):
    """Hold two results' JSON against each other, number by number."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), where
        for key in theirs:
            alike(ours[key], theirs[key], f"{where}.{key}", tolerance=tolerance)
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), where
        for place, each in enumerate(theirs):
            alike(ours[place], each, f"{where}[{place}]", tolerance=tolerance)
    elif isinstance(theirs, float) and tolerance:
        assert ours == pytest.approx(theirs, rel=tolerance, abs=tolerance), where
    elif not isinstance(theirs, str):  # a finding names the model
        assert ours == theirs, where


@pytest.fixture(scope="module")
def stored(crowd, pipeline, tmp_path_factory):
    """The people with label and score in a file, and both by position."""
    frame, hired = crowd
    scores = pipeline.predict_proba(frame)[:, 1]
    folder = tmp_path_factory.mktemp("stored")
    # a file has no truth values of its own: 0 and 1 there
    written = frame.assign(hired=hired, score=scores, member=frame["member"].astype(int))
    written.to_csv(folder / "people.csv", index=False)
    return folder, scores


CHOSEN = [
    {"groups": {}},
    {"flipset": {"source": {"sex": "f"}, "target": {"sex": "m"}, "permutations": 19, "bootstrap": 100}},
    {"rule_sets": {"permutations": 99, "samples": 0}},
    {"outcome_transport": {"by": ["sex"], "against": "label", "permutations": 19, "draws": 20}},
]


@pytest.mark.parametrize("way", ["scores", "model"])
def test_same_numbers_as_a_spec_on_a_column(crowd, pipeline, stored, way):
    frame, hired = crowd
    frame = frame.assign(member=frame["member"].astype(int))
    folder, scores = stored
    section = {
        "path": "people.csv",
        "label": "hired",
        "favorable": 1,
        "protected": ["sex"],
        "features": ["age", "income", "job", "member"],
    }
    spec = {"data": section, "model": {"predictions": {"score": "score"}}, "audits": CHOSEN, "seed": 3}
    theirs = execute(parse_spec(spec, folder)).to_json()
    given = {"scores": scores} if way == "scores" else {}
    found = audits.audit(
        None if given else pipeline,
        frame,
        pd.Series(hired, name="hired"),
        favorable=1,
        protected="sex",
        features=section["features"],
        audits=CHOSEN,
        seed=3,
        **given,
    )
    ours = found.to_json()
    if way == "scores":
        alike(ours["audits"], theirs["audits"])
        return
    for mine, other in zip(ours["audits"], theirs["audits"], strict=True):
        assert mine["verdict"] == other["verdict"]
    alike(ours["audits"][0]["table"], theirs["audits"][0]["table"])
    assert ours["audits"][1]["positive"]["size"] == theirs["audits"][1]["positive"]["size"]
    assert ours["audits"][1]["negative"]["size"] == theirs["audits"][1]["negative"]["size"]
    alike(ours["audits"][3]["wasserstein"], theirs["audits"][3]["wasserstein"], tolerance=1e-12)


def test_same_numbers_as_a_spec_on_onnx(tmp_path):
    from skl2onnx import to_onnx

    rng = np.random.default_rng(2)
    X = pd.DataFrame({"a": rng.normal(size=300).round(2), "b": rng.normal(size=300).round(2)})
    sex = np.where(X["b"] + rng.normal(size=300) > 0, "f", "m")
    y = (X["a"] + X["b"] > 0).astype(int)
    model = LogisticRegression(C=0.2).fit(X.to_numpy(np.float32), y)
    exported = to_onnx(model, X.to_numpy(np.float32)[:1], options={"zipmap": False})
    (tmp_path / "model.onnx").write_bytes(exported.SerializeToString())
    X.assign(y=y, sex=sex).to_csv(tmp_path / "people.csv", index=False)
    chosen = [{"groups": {}}, {"sensitivity": {"protected": "sex", "bootstrap": 100}}]
    data = {"path": "people.csv", "label": "y", "favorable": 1, "protected": ["sex"], "features": ["a", "b"]}
    spec = {"data": data, "model": {"path": "model.onnx", "columns": ["a", "b"]}, "audits": chosen}
    theirs = execute(parse_spec(spec, tmp_path)).to_json()
    found = audits.audit(
        lambda frame: model.predict_proba(frame.to_numpy(np.float32)),
        X,
        y,
        favorable=1,
        protected={"sex": sex},
        audits=chosen,
    )
    alike(found.to_json()["audits"][0]["table"], theirs["audits"][0]["table"], tolerance=1e-5)
    # the file is the network it is and has slopes; the function has differences over a step of 0.01
    alike(found.to_json()["audits"][1]["baseline"], theirs["audits"][1]["baseline"], tolerance=5e-3)


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_each_library_s_table_reaches_the_model_as_it_is(crowd, form):
    frame, hired = crowd
    native = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "arrow": lambda: pa.Table.from_pandas(frame, preserve_index=False),
    }[form]()
    seen = []

    def model(table):
        seen.append(table)
        named = table.to_pandas() if form != "pandas" else table
        return 1 / (1 + np.exp(-named["income"].to_numpy()))

    found = groups(model, native, hired, favorable=1, protected="sex")
    expected = 1 / (1 + np.exp(-frame["income"].to_numpy()))
    np.testing.assert_allclose(found.subject.scores, expected, rtol=0, atol=1e-15)
    for table in seen:
        assert type(table) is type(native)
        if form == "polars":
            assert table.schema == native.schema
        elif form == "arrow":
            assert table.schema.types == native.schema.types
        else:
            assert table.dtypes.equals(frame.dtypes)
            assert table["job"].cat.categories.tolist() == ["nurse", "judge", "cook"]


def test_moved_people_keep_the_types_of_the_table(crowd):
    """Flow and differences move numbers and categories; the model still gets its own kinds of cells."""
    frame, hired = crowd

    def model(table):
        assert table["job"].dtype == frame["job"].dtype
        assert table["age"].dtype.kind in "if"
        assert table["member"].isin([True, False]).all()
        return 1 / (1 + np.exp(-(table["income"] + (table["job"] == "judge"))))

    found = audits.audit(
        model, frame, hired, favorable=1, protected="sex",
        audits={"sensitivity": {"protected": "sex", "bootstrap": 100, "match_set": "off"}},
    )  # fmt: skip
    assert found.subject.differentiable is None
    assert "sex" not in found.subject.data.features  # the function does not read it


def test_boosting_with_native_categories_scores_as_itself(crowd):
    frame, hired = crowd
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=20)
    X = frame.drop(columns="sex")
    X.loc[::7, "income"] = np.nan
    model.fit(X, hired)
    found = groups(model, X, hired, favorable=1, protected={"sex": frame["sex"]})
    np.testing.assert_allclose(found.subject.scores, model.predict_proba(X)[:, 1], rtol=0, atol=1e-12)


def test_a_blank_that_was_filled_for_statistics_reaches_the_model_as_a_blank(crowd):
    frame, hired = crowd
    X = frame[["age", "income", "sex"]].copy()
    X.loc[::5, "income"] = np.nan

    def model(table):
        return np.where(table["income"].isna(), 0.9, 0.2)

    found = groups(model, X, hired, favorable=1, protected="sex")
    assert (found.subject.scores == 0.9).sum() == X["income"].isna().sum()


def test_matrices_and_networks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    sex = np.where(rng.random(300) < 0.5, "f", "m")
    y = np.where(X[:, 0] > 0, "yes", "no")
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    network.train()
    said = {"favorable": "no", "classes": ["no", "yes"], "protected": {"sex": sex}}
    found = groups(network, X, y, output="logits", **said)
    with torch.no_grad():
        expected = torch.sigmoid(-network(torch.from_numpy(X))[:, 0].double()).numpy()
    np.testing.assert_allclose(found.subject.scores, expected, atol=1e-6)
    assert found.subject.differentiable is not None
    assert network.training, "the user's own network stays in the mode it was in"
    with_end = torch.nn.Sequential(network, torch.nn.Sigmoid())
    same = groups(with_end, X, y, **said)
    np.testing.assert_allclose(same.subject.scores, expected, atol=1e-6)


def test_exact_gradients_of_linear_models_and_networks_and_of_nothing_else(crowd, pipeline):
    frame, hired = crowd
    X = frame[["age", "income"]]
    exact = [
        pipeline,
        make_pipeline(StandardScaler(), LogisticRegression()).fit(X, hired),
        make_pipeline(StandardScaler(), MLPClassifier((8,), max_iter=30, random_state=0)).fit(X, hired),
    ]
    for model in exact:
        found = groups(model, frame, hired, favorable=0, protected="sex")
        assert found.subject.differentiable is not None
        np.testing.assert_allclose(
            found.subject.scores, model.predict_proba(frame[model.feature_names_in_])[:, 0], atol=1e-12
        )
    forest = RandomForestClassifier(10, random_state=0).fit(X, hired)
    assert groups(forest, frame, hired, favorable=1, protected="sex").subject.differentiable is None


def test_gradient_is_the_slope_of_the_model_itself(crowd, pipeline):
    from audits.models.networks.gradients import logits_over

    frame, hired = crowd
    subject = groups(pipeline, frame, hired, favorable=1, protected="sex").subject
    z = torch.from_numpy(subject.space.encode(subject.data.frame)[:20]).requires_grad_()
    network = logits_over(subject.differentiable, subject.space, subject.data.frame)
    network(z).sum().backward()
    moved = subject.data.frame.iloc[:20].copy()
    step = 1e-4 * subject.space.scale["income"][1]
    moved["income"] += step
    p, q = subject.favorable_score(subject.data.frame.iloc[:20]), subject.favorable_score(moved)
    slope = (np.log(q / (1 - q)) - np.log(p / (1 - p))) / 1e-4
    at = subject.space.blocks["income"].start
    np.testing.assert_allclose(z.grad[:, at].numpy(), slope, rtol=1e-5)


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


def test_a_frame_of_answers_names_its_classes(crowd, pipeline):
    frame, hired = crowd
    odds = pipeline.predict_proba(frame)

    def answers(table):
        said = pipeline.predict_proba(table)
        return pd.DataFrame({1: said[:, 1], 0: said[:, 0]})

    for favorable in (1, 0):
        for y in (hired, None):
            found = groups(answers, frame, y, favorable=favorable, protected="sex")
            np.testing.assert_array_equal(found.subject.scores, odds[:, favorable])


def test_stored_predictions_and_what_they_allow(crowd):
    frame, hired = (each[:120] for each in crowd)
    guessed = (frame["income"] > 0.5).to_numpy().astype(int)
    found = audits.audit(None, frame, hired, favorable=1, protected="sex", predictions=guessed)
    assert (found.subject.decisions == guessed).all()
    assert {each.name for each in found.audits} == {"groups", "flipset", "outcome_transport", "rule_sets"}


def test_protected_attributes_in_every_form(crowd, pipeline):
    frame, hired = crowd
    X = frame.drop(columns="sex")
    forms = [
        (frame, "sex"),
        (frame, ["sex"]),
        (X, {"sex": frame["sex"]}),
        (X, {"sex": frame["sex"].tolist()}),
        (X, frame["sex"]),
        (X, frame[["sex"]]),
        (X, [frame["sex"]]),
    ]
    tables = [groups(pipeline, table, hired, favorable=1, protected=each)["groups"].to_json()["table"]
              for table, each in forms]  # fmt: skip
    assert all(table == tables[0] for table in tables)


def test_what_a_result_offers(crowd, pipeline, tmp_path, capsys):
    frame, hired = crowd
    found = groups(pipeline, frame, hired, favorable=1, protected="sex")
    capsys.readouterr()
    found["groups"].explain()
    said = capsys.readouterr().out
    result = found["groups"]
    assert said.startswith(f"{result.judged.badge_text}. {result.finding}\n\n")
    assert "Hardt, Price, Srebro 2016" in said  # where it is from
    found.explain()
    assert capsys.readouterr().out == said  # of its only audit
    assert "evenhand.audit" in found.report(tmp_path / "x.html").read_text(encoding="utf-8")
    assert found.report(tmp_path / "x.pdf").read_bytes()[:4] == b"%PDF"
    assert found.figures["groups/rates_sex"].data
    twice = dataclasses.replace(found, audits=found.audits * 2)
    assert len(twice.figures) == 2 * len(found.figures)
    assert twice.figures["groups-2/rates_sex"].data
    assert "groups-table" in found.tables
    assert found.verdicts["verdict"].tolist() == [found["groups"].verdict]
    html = found._repr_html_()
    assert result.judged.badge_text in html
    assert re.search("Pipeline.* LogisticRegression", html)
    with refused("path"):
        found.report(tmp_path / "x.docx")
    with refused("audit", "'groups'"):
        found["group"]
    found.save(tmp_path / "kept")
    assert (
        audits.Findings.__mro__[1].load(tmp_path / "kept").audits[0].result.finding == found["groups"].finding
    )


_CELLS = """
import json
import audits, pandas as pd
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

people = pd.DataFrame({"sex": ["f", "m"] * 100, "hired": [0, 1, 1, 1] * 50})
cells = InteractiveShell.instance()
cells.user_ns["found"] = audits.audit(
    None, people, "hired", predictions="hired", favorable=1, protected="sex", audits="groups"
)
for cell in ("found['groups']", "found.audits[0]", "found"):
    with capture_output() as shown:
        assert cells.run_cell(cell).success
    print(json.dumps([output.data for output in shown.outputs]))
"""


def test_a_notebook_shows_a_result_with_its_first_figure():
    done = subprocess.run(
        [sys.executable, "-c", _CELLS],
        env=os.environ | {"IPYTHONDIR": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    for line in done.stdout.splitlines()[-3:]:
        said, drawn = json.loads(line)
        assert "<table" in said["text/html"]
        figure = drawn["application/vnd.plotly.v1+json"]
        texts = json.dumps([figure["data"], figure["layout"]["yaxis"]])
        assert r"\u201cf\u201d" in texts
        assert set(figure["data"][0]["meta"]) == {"value", "low", "high"}
        assert drawn["image/svg+xml"].startswith("<svg")
        assert "“f”" in drawn["image/svg+xml"]


def test_an_audit_that_nobody_named_may_be_refused(crowd, monkeypatch):
    from audits.runs.registry import AUDITS

    frame, hired = crowd
    few = frame.iloc[:30]
    found = audits.audit(
        lambda table: np.where(table["income"] > 0, 0.8, 0.3), few, hired[:30], favorable=1, protected="sex"
    )
    told = {each.name for each in found.audits} | set(found.not_run)
    asked = {"groups", "flipset", "outcome_transport", "rule_sets", "loss_ratio", "attribute_swap"}
    assert told == asked | {"sensitivity"}
    assert told <= set(AUDITS)
    for why in found.not_run.values():
        assert why.endswith(".")


def test_rows_of_one_person_and_sampling_weights_are_said_as_in_a_spec(crowd, pipeline):
    frame, hired = crowd
    who = np.repeat(np.arange(len(frame) // 4), 4)
    told = {"favorable": 1, "protected": "sex", "audits": {"groups": {"bootstrap": 0}}}
    alone = audits.audit(pipeline, frame, hired, **told)["groups"]
    persons = audits.audit(pipeline, frame, hired, person=who, **told)
    assert persons.spec["data"]["person"] == "person"
    assert any("of 100 persons" in note for note in persons.data["notes"])
    for row, before in zip(persons["groups"].table, alone.table, strict=True):
        assert row.selection_rate.value == pytest.approx(before.selection_rate.value)
    weights = {"column": np.random.default_rng(0).lognormal(size=len(frame)), "kind": "sampling"}
    weighed = audits.audit(pipeline, frame, hired, weights={**weights, "cluster": who}, **told)
    assert weighed.spec["data"]["weights"] == {"column": "weights", "cluster": "cluster", "kind": "sampling"}
    assert all(row.n < before.n for row, before in zip(weighed["groups"].table, alone.table, strict=True))
    with refused("audits['recourse']"):
        audits.audit(pipeline, frame, hired, weights=weights, **told | {"audits": "recourse"})


def test_numbers_that_are_no_probabilities_need_a_threshold():
    """Cut at 0, a line through labels of 0 and 1 would favor nearly everyone."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"hours": rng.normal(size=200), "sex": ["f", "m"] * 100})
    y = (people["hours"] + rng.normal(size=200) > 0).astype(int)
    line = LinearRegression().fit(people[["hours"]], y)
    with refused("threshold", "LinearRegression"):
        audits.audit(
            line, people[["hours"]], y, favorable=1, protected={"sex": people["sex"]}, audits="groups"
        )
    found = audits.audit(
        line,
        people[["hours"]],
        y,
        favorable=1,
        protected={"sex": people["sex"]},
        audits="groups",
        threshold=0.5,
    )
    assert found.subject.decisions.mean() == ((line.predict(people[["hours"]]) >= 0.5).mean())
