"""Labels that are not everyone's, labels that are the decision, and decisions among several classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.groups import GroupsOptions, GroupsResult, groups
from audits.models import make_subject, model_spec

OPTIONS = GroupsOptions(bootstrap=0)


def decided(seed: int, n: int = 400, *, refused: float = 0.0) -> pd.DataFrame:
    """40% of women and 65% of men are accepted; labels of the accepted, and of a share of the refused."""
    rng = np.random.default_rng(seed)
    sex = np.repeat(["women", "men"], n)
    yes = rng.random(2 * n) < np.where(sex == "women", 0.4, 0.65)
    good = rng.random(2 * n) < np.where(yes, 0.9, 0.4)
    known = yes | (rng.random(2 * n) < refused)
    return pd.DataFrame(
        {
            "sex": sex,
            "x": rng.normal(size=2 * n),
            "decision": np.where(yes, "good", "bad"),
            "y": np.where(known, np.where(good, "good", "bad"), None),
        }
    )


def audited(frame: pd.DataFrame, *, label: str | None = "y", **more: object) -> GroupsResult:
    spec = DataSpec(protected=("sex",), features=("x",), label=label, favorable="good", **more)
    subject = make_subject(build_data(frame, spec), model_spec({"predictions": {"label": "decision"}}))
    return groups(subject, OPTIONS, rng=0)


@pytest.mark.parametrize("refused", [0.0, 0.2])
def test_labels_of_the_accepted_alone_neither_clear_nor_turn_the_finding_round(refused):
    result = audited(decided(0, refused=refused))
    women = next(row for row in result.table if row.group == "women")
    assert (result.verdict, list(women.differences)) == ("evidence of a difference", ["selection_rate"])
    assert result.judged.interval.value < -0.1
    assert (women.n, women.selection_rate.n, result.rows["used"]) == (400, 400, 800)
    assert women.accuracy.n < 400


def test_a_label_that_is_the_decision_gives_the_verdict_of_no_label():
    """14 of 24 against 21 of 24: error rates of a decision against itself are no measures."""
    yes = np.r_[np.arange(24) < 14, np.arange(24) < 21]
    frame = pd.DataFrame(
        {"sex": np.repeat(["women", "men"], 24), "x": 0.0, "decision": np.where(yes, "good", "bad")}
    )
    with_label = audited(frame.assign(y=frame["decision"]))
    itself = audited(frame, label="decision")
    without = audited(frame, label=None)
    for result in (with_label, itself):
        assert result.judged == without.judged
        assert result.table[0].true_positive_rate is None
    assert without.verdict == "evidence of a difference"


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_among_three_classes_the_models_own_decision_is_the_default(threshold):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 900))
    y = np.select([x + noise < -0.4, x + noise < 0.4], ["a", "b"], "c")
    frame = pd.DataFrame({"x": x, "sex": rng.choice(["f", "m"], 900), "y": y})
    spec = DataSpec(protected=("sex",), features=("x",), label="y", favorable="c")
    model = model_spec({"train": "logistic", "predict": "label"})
    subject = make_subject(build_data(frame, spec), model, threshold=threshold)
    given, classes = subject.model.score(subject.data.frame), np.array(subject.model.classes)
    own, summed = classes[given.argmax(axis=1)] == "c", given[:, classes == "c"][:, 0] >= 0.5
    assert own.sum() > summed.sum()
    expected = own if threshold is None else summed
    score = subject.favorable_score(subject.data.frame)
    decided = groups(subject, OPTIONS, rng=0).people["decision"]
    for found in (subject.decisions, subject.decide(score, subject.data.groups), decided):
        assert np.array_equal(found, expected)
