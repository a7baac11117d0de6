"""A monitor of a table of predictions, without the model: what it needs, finds and names."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from audits.cli.main import main
from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle
from audits.monitor.ingestion import read_json
from audits.monitor.monitors import Monitors
from audits.monitor.profile import BatchContext
from audits.runs.execute import prepared_subject
from audits.runs.spec import parse_spec
from audits.runs.storage.database import Database
from tests.app.test_pages import bring, visit
from tests.refused import refused

DATA = {"label": "repaid", "favorable": 1, "protected": ["sex"], "features": ["income", "debt", "years"]}


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    years = rng.integers(0, 30, n)
    income = np.exp(10 + 0.02 * years + 0.35 * rng.normal(size=n))
    debt = income * rng.uniform(0.1, 0.5, n)
    score = 1 / (1 + np.exp(-(income / 22_000 - 6 * debt / income)))
    columns = {"sex": rng.choice(["f", "m"], n), "income": income, "debt": debt, "years": years}
    repaid = (rng.random(n) < score).astype(int)
    return pd.DataFrame({**columns, "score": score, "approved": (score > 0.5).astype(int), "repaid": repaid})


def write(folder, predictions: dict) -> dict:
    people(1500, 0).to_csv(folder / "reference.csv", index=False)
    document = {"data": {**DATA, "path": "reference.csv"}, "model": {"predictions": predictions}}
    document["audits"] = ["groups"]
    (folder / "reference.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    return document


def bundle_of(folder, predictions, inputs=True) -> MonitorBundle:
    subject = prepared_subject(parse_spec(write(folder, predictions), folder))
    return MonitorBundle.parse(*MonitorBundle.of_predictions(subject, inputs=inputs).dump())


def test_three_steps_on_the_command_line_find_income_and_name_it(tmp_path, capsys, monkeypatch):
    """A spec; its bundle; a later table: quiet as long as people are alike, one alarm where income grew."""
    write(tmp_path, {"score": "score"})
    assert main(["monitor", "export", str(tmp_path / "reference.yaml"), "--out", str(tmp_path / "b")]) == 0
    capsys.readouterr()
    alarms = {}
    for name, column, times in (("alike", "income", 1), ("grown", "income", 1.1), ("months", "years", 12)):
        later = people(2000, 1)
        later[column] *= times
        later.to_csv(tmp_path / f"{name}.csv", index=False)
        assert main(["monitor", "replay", str(tmp_path / "b"), str(tmp_path / f"{name}.csv"), "--json"]) == 0
        alarms[name] = json.loads(capsys.readouterr().out)["replays"][0]["alarms"]
    grown, own = str(tmp_path / "grown.csv"), str(tmp_path / "b")
    assert main(["monitor", "replay", own, grown, "--against", own]) == 0
    first = alarms["grown"][0]["person"] + 1
    assert f"income: {first:,}; {first:,}\n" in capsys.readouterr().out
    assert alarms["alike"] == []
    [only] = alarms["grown"]
    assert only["about"].endswith("income")
    [only] = alarms["months"]
    assert "“years”" in only["sentence"]
    assert re.search(r"\b12\b", only["sentence"])
    monkeypatch.setenv("EVENHAND_MONITOR_TOKEN", "t")
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    for words in (
        ("score", own, grown),  # it has no model
        ("score", str(tmp_path), grown),  # no bundle
        ("send", "127.0.0.1", grown),
        ("window", "nobody", "--last", "5", "--out", str(tmp_path / "w")),
    ):
        assert main(["monitor", *words]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("needs", ["scores", "decisions"])
def test_scores_or_decisions_are_needed_and_no_more(needs, tmp_path):
    column = {"score": "score"} if needs == "scores" else {"label": "approved"}
    bundle = bundle_of(tmp_path, column, inputs=False)
    monitors = Monitors(Database(f"sqlite:///{tmp_path}/m.sqlite"))
    monitor, _ = monitors.create(bundle, name="alone", people_between=10_000)
    body = {needs: [0.7, 0.4] if needs == "scores" else [True, False], "protected": {"sex": ["f", "m"]}}
    arrival = read_json(json.dumps({**body, "ids": ["a", "a"]}).encode(), bundle.reads)
    scored = bundle.with_sent(bundle.score_columns(arrival.columns, arrival.people), arrival.sent)
    batch = Batch(monitor.id, scored, "x", None, arrival.ids, look=bundle.look(scored), sent=arrival.sent)
    [stored] = monitors.store([batch])
    assert (stored.counted, monitors.get(monitor.id).people) == (1, 2)  # an id twice in one body counts once
    for sent in (BatchContext(), bundle.sent_of(people(2, 0).assign(score=None, approved=None))):
        with refused(f"{needs}[0]"):
            bundle.with_sent(scored, sent)


def test_outcomes_of_the_approved_alone_raise_no_alarm(tmp_path):
    """Where no declined applicant's outcome is known, true and false positive rates are 1 by construction."""
    bundle = bundle_of(tmp_path, {"score": "score"})
    monitors = Monitors(Database(f"sqlite:///{tmp_path}/m.sqlite"))
    monitor, _ = monitors.create(bundle, name="approved", people_between=10_000)
    later = people(3000, 2)
    sent = BatchContext(tuple(later["score"]), (), (), {"sex": tuple(later["sex"])})
    scored = bundle.with_sent(bundle.score(later), sent)
    ids = tuple(map(str, later.index))
    monitors.store([Batch(monitor.id, scored, "x", None, ids, look=bundle.look(scored), sent=sent)])
    approved = later[later["approved"] == 1]
    repaid = dict(zip(map(str, approved.index), approved["repaid"] == 1, strict=True))
    assert (monitors.learn(monitor.id, repaid).alarms, monitors.alarms(monitor.id)) == ((), [])


def test_its_page_says_what_is_to_be_sent_without_the_model(space):
    bring(space, people(1500, 0).to_csv(index=False), **DATA)
    draft = space.draft()
    space.save_draft({**draft, "spec": {**draft["spec"], "model": {"predictions": {"score": "score"}}}})
    at = visit(space).switch_page("views/monitor.py").run()
    assert not at.exception
    at.text_input[0].set_value("lending")
    at.button(key="create-monitor").click().run()
    assert not at.exception
    sent = next(each.value for each in at.code if "curl" in each.value)
    assert {"rows", "scores", "protected"} <= json.loads(sent.partition(" -d '")[2].rstrip("'")).keys()
