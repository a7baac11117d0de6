"""Where rows stand for several people, every table of people says how many: its means can be taken again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.models import make_subject, model_spec
from audits.notebook import audit
from audits.rule_sets import RuleSetsOptions, rule_sets
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from audits.sensitivity import SensitivityOptions, sensitivity
from audits.stats import EVIDENCE, INSUFFICIENT
from tests.runs.conftest import make_spec


@pytest.fixture(scope="module")
def weighted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "z": rng.normal(size=300)})
    frame["group"] = np.where(frame["x"] + rng.normal(size=300) > 0, "a", "b")
    frame["label"] = (frame["x"] + frame["z"] + rng.normal(size=300) > 0).astype(int)
    frame["count"] = rng.integers(1, 9, 300)
    spec = DataSpec(
        label="label", favorable=1, protected=("group",), features=("x", "z"), weights="count", test_size=0.5
    )
    return make_subject(build_data(frame, spec), model_spec({"train": "logistic"}))


def test_means_of_the_tables_weigh_by_people(weighted):
    moved = loss_ratio(weighted, LossRatioOptions(steps=20))
    people = moved.people
    assert moved.statistic.value == pytest.approx(np.average(people["ratio"], weights=people["people"]))
    measured = sensitivity(weighted, SensitivityOptions(match_set="off"))
    people = measured.people
    mean = np.average(people["sensitivity"], weights=people["people"])
    assert measured.baseline.mean.value == pytest.approx(mean)
    found = rule_sets(weighted, RuleSetsOptions(samples=0, permutations=19))
    assert found.favorable.value == pytest.approx(
        np.average(found.people["favorable"], weights=found.people["people"])
    )


def test_weights_that_add_up_to_one_person_are_no_evidence():
    """Shares for weights: 2,000 rows of which all of one town are refused stand for one person."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["north", "south"], 2000), "x": rng.normal(size=2000)})
    frame["hired"] = (frame["town"] == "north").astype(int)
    for weight, verdict in ((1 / 2000, INSUFFICIENT), (0.5, EVIDENCE)):
        told = {"weights": {"column": "weight", "kind": "counts"}, "favorable": 1, "protected": ["town"]}
        asked = [{"rule_sets": {"permutations": 99, "samples": 0}}]
        found = audit(
            None, frame.assign(weight=weight), predictions="hired", audits=asked, search=False, **told
        )
        result = found.audits[0].result
        assert (result.verdict, result.n) == (verdict, pytest.approx(2000 * weight))
        assert result.warnings


def test_a_word_of_texts_is_a_group_without_any_protected_column(tmp_path):
    """Those with "gay" are called toxic more often; there is a text, a score, and nothing to exchange."""
    rng = np.random.default_rng(2)
    who = rng.choice(["gay", "male", "neighbour"], 600)
    texts = [f"my {each} friend {k} was here today" for k, each in enumerate(who)]
    score = np.where((who == "gay") & (rng.random(600) < 0.8), 0.2, 0.9)
    pd.DataFrame({"words": texts, "score": score}).to_csv(tmp_path / "people.csv", index=False)
    spec = make_spec({"rule_sets": {"text": "words", "permutations": 99, "samples": 0}})
    spec["data"] = {"path": "people.csv", "kinds": {"words": "text"}}
    result = execute(parse_spec(spec, tmp_path)).audits[0].result
    assert (result.verdict, result.leaderboard[0].n_in) == (EVIDENCE, (who == "gay").sum())
