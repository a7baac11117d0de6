"""Moved copies asked about all at once give what asking about one person and one move at a time gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.models import Subject
from audits.sensitivity.measurement import blackbox
from audits.sensitivity.measurement.blackbox import level_counts, measure_blackbox
from audits.sensitivity.measurement.gradients import Status
from audits.sensitivity.measurement.status_models import train_status
from tests.sensitivity.conftest import people, subject_of

STEP = 0.1


def three_towns() -> pd.DataFrame:
    """People with blanks among numbers and words, whole numbers, yes and no, and three groups."""
    frame = people(400, seed=5)
    rng = np.random.default_rng(2)
    frame["dependants"] = rng.integers(0, 4, 400)
    frame["owner"] = rng.random(400) < 0.4
    frame.loc[rng.random(400) < 0.1, "skill"] = np.nan
    frame.loc[rng.random(400) < 0.1, "town"] = None
    frame.loc[rng.random(400) < 0.3, "group"] = "c"
    return frame


@pytest.fixture(scope="module")
def subject() -> Subject:
    features = ("skill", "height", "town", "dependants", "owner")
    return subject_of(three_towns(), "boosting", features=features, missing="category")


@pytest.fixture(scope="module")
def status(subject: Subject) -> Status:
    return train_status(
        subject.training, subject.space, "group", (4,), unseen=("group",), rng=np.random.default_rng(0)
    )


def log_odds(status: Status, z: np.ndarray, group: int) -> float:
    p = status.probabilities(z[None])[0]
    return float(np.log(p[group] / (1 - p[group])))


def one_by_one(subject: Subject, status: Status, row: int) -> np.ndarray:
    """Return the parts of one person's sensitivity by the definition, a model call a move."""
    space, frame = subject.space, subject.data.frame.iloc[[row]]
    everybody = space.encode(subject.data.frame)
    z, score = everybody[row], subject.favorable_score
    group = int(status.probabilities(z[None])[0].argmax())
    counts, parts = level_counts(everybody, space), []
    for block in space.parts:
        at = space.blocks[block.column]
        if block.column in counts:
            codes = block.encode(block.levels, unknown="zero")
            others = [k for k in range(len(codes)) if not np.array_equal(codes[k], z[at])]
            total = sum(counts[block.column][k] for k in others)
            part = 0.0
            for k in others:
                there = z.copy()
                there[at] = codes[k]
                moved = frame.assign(**{block.column: block.levels.iloc[[k]].array})
                change = abs(score(moved)[0] - score(frame)[0])
                apart = abs(log_odds(status, there, group) - log_odds(status, z, group))
                part += counts[block.column][k] / total * change * apart
            parts.append(part)
            continue
        reach = max(STEP, block.step / block.sd)
        ends = []
        for sign in (-1, 1):
            there = z[at].copy()
            there[0] += sign * reach
            raw = block.decode(there[None])
            ends.append(
                (score(frame.assign(**{block.column: raw.array}))[0], block.encode(raw, unknown="zero")[0, 0])
            )
        run = ends[1][1] - ends[0][1]
        slope = abs(ends[1][0] - ends[0][0]) / run if run > 1e-12 else 0.0
        up, down = z.copy(), z.copy()
        up[at.start] += 1e-6
        down[at.start] -= 1e-6
        parts.append(slope * abs(log_odds(status, up, group) - log_odds(status, down, group)) / 2e-6)
    return np.array(parts)


def test_all_at_once_equals_one_by_one(subject: Subject, status: Status):
    frame, space = subject.data.frame, subject.space
    z = space.encode(frame)
    found = measure_blackbox(
        frame, z, subject.favorable_score, subject.model.columns, [status], space, step=STEP
    )
    missing = np.flatnonzero(frame["skill"].isna() | frame["town"].isna())[:4]
    for row in [*range(8), *missing]:
        np.testing.assert_allclose(found.contributions[row], one_by_one(subject, status, row), atol=1e-7)
    assert (found.contributions.max(axis=0) > 0).sum() >= 4


def test_the_model_is_asked_about_all_copies_of_many_people_at_once(
    subject: Subject, status: Status, monkeypatch: pytest.MonkeyPatch
):
    frame, space = subject.data.frame, subject.space
    z = space.encode(frame)
    most: list[int] = []

    def score(rows: pd.DataFrame) -> np.ndarray:
        most.append(len(rows))
        return subject.favorable_score(rows)

    def measured() -> np.ndarray:
        return measure_blackbox(
            frame, z, score, subject.model.columns, [status], space, step=STEP
        ).contributions

    whole = measured()
    assert len(most) == 1
    # three columns of numbers twice, four towns (one is missing), two kinds of owners, and as they are
    assert most[0] == len(frame) * (6 + 4 + 2 + 1)
    monkeypatch.setattr(blackbox, "_ROWS", 400)
    most.clear()
    np.testing.assert_array_equal(measured(), whole)  # trees: to the last digit
    assert max(most) <= 400
    assert len(most) == -(-len(frame) // (400 // 13))


def test_nobody_is_measured_too(subject: Subject, status: Status):
    frame, space = subject.data.frame.iloc[:0], subject.space
    found = measure_blackbox(
        frame,
        np.empty((0, len(space.names))),
        subject.favorable_score,
        subject.model.columns,
        [status],
        space,
        step=STEP,
        counts=level_counts(space.encode(subject.data.frame), space),
    )
    assert found.contributions.shape == (0, 5)


def test_a_column_of_which_no_value_is_known_has_no_owners():
    """As where one person's value of a boolean column is known, and that person was trained on."""
    assert blackbox.owners_of(np.zeros((5, 1)), np.zeros((0, 1))).sum(axis=1).tolist() == []
    assert blackbox.owners_of(np.array([[0.0], [1.0], [1.0]]), np.array([[0.0], [1.0]])).sum(
        axis=1
    ).tolist() == [1, 2]
