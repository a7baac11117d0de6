"""From a spec to numbers: rows counted, seeds per audit, nothing computed twice, nothing lost."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from audits.errors import RunFailed
from audits.notebook import audit
from audits.runs.execute import execute
from audits.runs.result import RunResult
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE, INSUFFICIENT
from tests.refused import refused
from tests.runs.conftest import PEOPLE, make_spec


def run(spec, base) -> RunResult:
    return execute(parse_spec(spec, base))


def test_by_hand(tmp_path):
    rows = ["g,s,y,x", *["a,0.9,1,1"] * 3, "a,0.1,0,2", "b,0.5,1,3", *["b,0.4,0,4"] * 3, "b,,1,5"]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    data = {"path": "t.csv", "label": "y", "favorable": 1, "protected": ["g"], "features": ["x"]}
    data["keep"] = [{"column": "s", "not_missing": True}]
    spec = {"data": data, "model": {"predictions": {"score": "s"}}, "audits": [{"rates": {"by": "g"}}]}
    document = run(spec, tmp_path).to_json()
    assert list(document) == ["schema", "evenhand", "spec", "data", "model", "headline", "audits"]
    data = document["data"]
    assert (data["rows_read"], data["rows_used"], sum(data["excluded"].values())) == (9, 8, 1)
    assert (data["rows_audited"], data["rows_trained"]) == (8, 0)
    [audit] = document["audits"]
    assert (audit["audit"], audit["options"]) == ("rates", {"by": "g", "draws": 50, "gap": 0.1})
    # 3 of 4 in a; in b 0.5 is at the threshold, so 1 of 4
    assert [row["selection_rate"]["value"] for row in audit["table"]] == [0.75, 0.25]
    assert audit["verdict"] == "evidence of a difference"
    assert document["model"]["threshold"] == 0.5


def test_an_audit_draws_the_same_wherever_it_stands(base):
    twice, other = {"rates": {"by": "group", "draws": 9}}, {"rates": {"by": "group", "draws": 11}}
    first, between, last = run(make_spec(twice, other, twice), base).to_json()["audits"]
    assert first["mean_of_draws"] == last["mean_of_draws"] != between["mean_of_draws"]
    assert run(make_spec(twice), base).to_json()["audits"][0]["mean_of_draws"] == first["mean_of_draws"]
    parsed = parse_spec(make_spec(twice), base).audits[0]
    assert parsed.random(1).random() != parsed.random(0).random()


def test_a_wrong_option_is_named_by_its_place_in_the_spec(base):
    spec = make_spec({"rates": {"by": "group"}}, {"break": {"how": "input"}})
    with refused("audits[1].break.how", "'input'"):
        run(spec, base)
    flipset = {"flipset": {"source": {"group": "nrth"}, "target": {"group": "south"}}}
    with refused("audits[0].flipset.source.group", "'nrth'", "north"):
        run(make_spec(flipset), base)
    spec = make_spec(threshold={"skill": {"1": 0.5}})
    with refused("threshold", "'skill'"):
        run(spec, base)


def test_results_come_back_from_their_folder_without_loss(base, tmp_path):
    flipset = {"flipset": {"source": {"group": "north"}, "target": {"group": "south"}, "permutations": 19}}
    result = run(make_spec(flipset, {"rates": {"by": "group"}}, flipset, model={"train": "logistic"}), base)
    result.save(tmp_path / "saved")
    loaded = RunResult.load(tmp_path / "saved")
    assert json.dumps(loaded.to_json()) == json.dumps(result.to_json())
    for before, after in zip(result.audits, loaded.audits, strict=True):
        assert type(after.result) is type(before.result)
        for field in dataclasses.fields(before.result):
            one, two = getattr(before.result, field.name), getattr(after.result, field.name)
            if isinstance(one, pd.DataFrame):
                pd.testing.assert_frame_equal(one, two, check_exact=True)
            elif not isinstance(one, dict):
                assert one == two, field.name
    for damaged in ("people/1-rates.json", "results.json"):
        path = tmp_path / "saved" / damaged
        path.write_text(path.read_text()[:-20])
        with pytest.raises(RunFailed, match="saved"):
            RunResult.load(tmp_path / "saved")


def test_tables_are_named_after_audit_and_table(base, tmp_path):
    rates = {"rates": {"by": "group"}}
    run(make_spec(rates), base).write_tables(tmp_path / "one")
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"rates-people.csv", "rates-table.csv"}
    run(make_spec(rates, rates), base).write_tables(tmp_path / "two")
    assert (tmp_path / "two" / "rates-2-people.csv").is_file()
    people = pd.read_csv(tmp_path / "one" / "rates-people.csv")
    assert people.columns.tolist() == ["row", "group", "score", "favorable"]
    assert people["row"].tolist() == list(range(1, PEOPLE + 1))


@pytest.mark.parametrize(
    "asked",
    [
        {"flipset": {"source": {"sex": "f"}, "target": {"sex": "m"}, "permutations": 0}},
        {"recourse": {"by": ["sex"], "permutations": 19}},
        {"outcome_transport": {"against": {"score": "other"}, "permutations": 0, "draws": 20}},
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_what_compares_decisions_is_about_people_without_a_label_too(asked):
    """Outcomes are known of the approved alone: what is said of decisions is what is said without a label."""
    rng, n = np.random.default_rng(0), 400
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "x": rng.normal(size=n).round(2)})
    table["other"] = rng.random(n).round(2)

    def score(people):
        return 1 / (1 + np.exp(-people["x"] - 0.7 * (people["sex"] == "m")))

    known = np.where(score(table) > 0.5, rng.integers(0, 2, n).astype(float), np.nan)
    told = {"favorable": 1, "protected": "sex", "audits": asked, "search": False, "made": "held_out"}
    told["roles"] = {"actionable": ["x"]}
    with_label, without = (audit(score, table, y, output="probabilities", **told) for y in (known, None))
    one, other = (found.to_json()["audits"][0]["interval"] for found in (with_label, without))
    assert (one["value"], one["n"]) == (other["value"], other["n"])
    ends = [[each["low"], each["high"]] for each in (one, other)]
    assert ends[0] == pytest.approx(ends[1], abs=0.02)  # as far as they are drawn


def test_decisions_are_everyones_where_labels_are_measured_beside_them(tmp_path):
    """Labels are the approved's alone: gaps are of all held out, and what needs a label clears nobody."""
    rng, n = np.random.default_rng(0), 4000
    sex = rng.choice(["f", "m"], n)
    x = (rng.normal(size=n) + np.where(sex == "m", 0.5, -0.5)).round(2)
    true = (rng.random(n) < 1 / (1 + np.exp(-3 * x))).astype(float)
    y = np.where((x >= 0.2) | (rng.random(n) < 0.03), true, np.nan)
    table = pd.DataFrame({"sex": sex, "x": x, "y": y, "who": np.arange(n)[::-1] // 2})
    asked = [
        {"rule_sets": {"measures": ["precision"], "permutations": 99}},
        {"mitigation": {"amounts": [0.05], "also": {}, "by": "sex", "methods": ["thresholds"]}},
        {"loss_ratio": {"metric": "expert", "free_features": ["x"], "steps": 5, "tolerance": 50}},
        {"sensitivity": {"match_set": "off", "status_model": "logistic", "bootstrap": 100}},
    ]
    told = {"label": "y", "favorable": 1, "protected": ["sex"], "features": ["x", "sex"], "person": "who"}
    spec = {"data": {"path": "t.csv", **told}, "model": {"train": "logistic"}, "search": "off"}
    table.to_csv(tmp_path / "t.csv", index=False)
    audits = run({**spec, "audits": asked}, tmp_path).audits
    groups, mitigation, ratio, sensitivity = (each.result for each in audits)
    first = mitigation.steps[0]
    assert groups.n == sensitivity.judged.interval.n == first.difference.n > 1.5 * first.accuracy.n
    assert groups.judged.verdict == mitigation.judged.verdict == EVIDENCE
    assert mitigation.frontier[0].gap.n == groups.n
    assert {each.judged.verdict for each in groups.measures} == {INSUFFICIENT}
    assert (ratio.judged.interval.high < 50, ratio.judged.verdict) == (True, INSUFFICIENT)
