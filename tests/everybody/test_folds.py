"""Loss ratio, mitigation and recourse of everybody in a table of which a part was drawn."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.data import build_data, read_table
from audits.data.files import batches as reading
from audits.everybody.adding import added, mean_of, moments_of
from audits.everybody.loss_ratio import fold_of as loss_ratio_fold
from audits.everybody.mitigation import fold_of as mitigation_fold
from audits.loss_ratio.moving.people import move_people
from audits.loss_ratio.testing.moved import run_tests
from audits.mitigation.audit import _Held
from audits.mitigation.judging import level_of_a_step
from audits.models import Subject
from audits.progress import silent
from audits.runs.execute import execute, prepared_subject
from audits.runs.spec import parse_spec
from audits.stats import wilson
from audits.stats.means import mean_test

ROWS, DRAWN = 4000, 1500


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"sex": np.sort(rng.choice(["f", "m"], ROWS)), "age": rng.integers(20, 70, ROWS)})
    frame["hours"] = rng.normal(40, 8, ROWS) + 6 * (frame["sex"] == "m")
    frame["years"] = rng.normal(10, 3, ROWS) - 2 * (frame["sex"] == "m")
    frame["job"] = rng.choice(["clerk", "cook"], ROWS)
    frame.loc[ROWS - 3, "job"] = "pilot"  # not drawn
    frame["hired"] = (rng.random(ROWS) < 1 / (1 + np.exp(-(frame["hours"] - 43) / 6))).astype(int)
    frame.loc[::40, "hired"] = None
    folder = tmp_path_factory.mktemp("people")
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), folder / "people.parquet")
    document = {
        "data": {
            "path": "people.parquet",
            "draw": DRAWN,
            "protected": ["sex", "age"],
            "label": "hired",
            "favorable": 1,
            "features": ["hours", "years", "job"],
            "roles": {"actionable": ["hours"]},
            "keep": [{"column": "years", "at_most": 17}],
        },
        "model": {"train": "logistic"},
        "audits": [
            {"loss_ratio": {"steps": 40, "sensitive": ["sex"]}},
            {"mitigation": {"amounts": [0.05, 0.1], "also": {}}},
            {"recourse": {"by": ["sex"], "max_people": 50}},
        ],
    }
    return parse_spec(document, folder)


@pytest.fixture(scope="module")
def found(spec):
    patch = pytest.MonkeyPatch()
    with patch.context() as changed:
        changed.setattr(reading, "BATCH_ROWS", 700)
        return execute(spec).audits


@pytest.fixture(scope="module")
def drawn(spec):
    return prepared_subject(spec)


@pytest.fixture(scope="module")
def held(spec, drawn):
    """Everybody but whom the model learned from, and who has a job that nobody drawn has."""
    whole = dataclasses.replace(spec.data, draw=None)
    data = build_data(read_table(spec.data_paths()), whole)
    inside = ~data.frame.index.isin(drawn.training.frame.index) & (data.frame["job"] != "pilot").to_numpy()
    return data, inside


def of(drawn, data):
    return Subject(
        data, drawn.model, drawn.threshold, drawn.space, drawn.training,
        score_kind=drawn.score_kind, train=drawn.train, seed=drawn.seed,
    )  # fmt: skip


def test_the_loss_ratio_is_that_of_everybody_held_at_once(spec, found, drawn, held):
    options, result = spec.audits[0].options, found[0].result
    again = np.random.default_rng([spec.seed, 0])
    fold = loss_ratio_fold(drawn, options, result, again, again)
    data = held[0].take(held[1])
    metrics = dataclasses.replace(fold.metrics, place=fold._place(data.frame.index))
    assert 0.4 < metrics.place.mean() < 0.6
    moved = move_people(of(drawn, data), metrics, options, np.random.default_rng(0), silent)
    tests = run_tests(data, moved, options)
    assert result.rows["used"] == data.n
    assert result.rows["left_out"]["a value that nobody drawn has"] == 1
    for mine, theirs in ((result.loss_test, tests.loss), (result.error_test, tests.errors)):
        for name, value in vars(theirs).items():
            near = value if isinstance(value, str) else pytest.approx(value, rel=1e-5)
            assert getattr(mine, name) == near
    assert result.floored.lower_bound == pytest.approx(tests.floored.lower_bound, rel=1e-6)
    for mine, theirs in zip(result.curve, tests.curve, strict=True):
        assert mine.lower_bound == pytest.approx(theirs.lower_bound, rel=1e-6)
    for mine, theirs in zip(result.groups, tests.groups, strict=True):
        assert (mine.attribute, mine.group) == (theirs.attribute, theirs.group)
        assert mine.statistic.low == pytest.approx(theirs.statistic.low, rel=1e-5)
        assert mine.statistic.method == theirs.statistic.method
    assert sum(bar.people for bar in result.histogram) == data.n
    everybody = pd.read_parquet(found[0].everybody)
    np.testing.assert_allclose(everybody["ratio"], tests.ratios, rtol=1e-5)
    np.testing.assert_allclose(everybody.loc[result.people.index, "ratio"], result.people["ratio"], rtol=1e-5)
    moves = dict(zip(drawn.space.names, (moved.flow.positions - moved.start).mean(axis=0), strict=True))
    for each in result.features:
        assert each.mean_move == pytest.approx(moves[each.feature], abs=1e-6)


def test_a_mitigation_is_that_of_everybody_held_at_once(spec, found, drawn, held):
    options, result = spec.audits[1].options, found[1].result
    fold = mitigation_fold(drawn, options, result, None, np.random.default_rng([spec.seed, 1]))
    data, _ = held
    data = data.take(~data.frame.index.isin(drawn.training.frame.index))
    everybody = _Held(of(drawn, data), options, fold.groups)
    everybody.level = level_of_a_step(options.level, len(fold.models))
    assert len(fold.models) == len(result.steps) == 4  # 50 people at least, too
    assert result.rows["used"] == data.n
    for step, model in zip(result.steps, fold.models, strict=True):
        theirs = everybody.step(model, step.added, fold.group)
        assert dataclasses.replace(step, also=(), worst_score=0) == dataclasses.replace(theirs, worst_score=0)
        assert step.worst_score == pytest.approx(theirs.worst_score, rel=1e-12)
    assert len(pd.read_parquet(found[1].everybody)) == data.n


def test_who_is_accepted_is_told_of_everybody(found, drawn, held):
    data, _ = held
    data = data.take(~data.frame.index.isin(drawn.training.frame.index))
    decided = of(drawn, data).decisions
    everybody = pd.read_parquet(found[2].everybody)
    assert (everybody["decision"].to_numpy() == decided).all()
    share = wilson(int(decided.sum()), data.n)
    said = found[2].result.warnings[0]
    assert f"Of {data.n:,} people" in said
    assert f"the model accepts {100 * share.value:.1f} %" in said
    men = decided[(data.groups["sex"] == "m").to_numpy()]
    assert f" m {100 * men.mean():.1f} %" in said


@pytest.mark.parametrize("scale", [1e-8, 1.0])
def test_moments_of_parts_are_those_of_the_whole(scale):
    values = 1 + scale * np.random.default_rng(0).lognormal(0, 1, 900)
    code, keys = np.zeros(300, dtype=int), ["x"]
    one, two, three = (moments_of(part, code, keys) for part in np.split(values, 3))
    mine, theirs = mean_of(added(added(one, two), three)["x"], "skewness"), mean_test(values)
    assert mine.mean == pytest.approx(theirs.mean, rel=1e-14)
    assert mine.deviation == pytest.approx(theirs.deviation, rel=1e-7)
    assert mine.skewness == pytest.approx(theirs.skewness, rel=1e-6)
