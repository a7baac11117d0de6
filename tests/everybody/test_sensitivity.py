"""Sensitivity of everybody in a table of which a part was drawn: the numbers of everybody held at once."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.cli.main import main
from audits.data.files import batches as reading
from audits.everybody.sensitivity import _ratio_p_value
from audits.runs.execute import execute
from audits.runs.result import RunResult
from audits.runs.spec import parse_spec
from audits.sensitivity.judging import baseline_of, ratio_p_value, threshold_of
from audits.sensitivity.options import SensitivityOptions
from audits.stats import wilson
from audits.stats.means import mean_test
from audits.stats.ratios import mean_ratio

ROWS = 5000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(11)
    sex = np.sort(rng.choice(["f", "m"], ROWS))  # whole batches of one group
    frame = pd.DataFrame({"sex": sex, "race": rng.choice(["a", "b", "c"], ROWS, p=[0.6, 0.37, 0.03])})
    frame["hours"] = rng.normal(40, 8, ROWS) + 4 * (sex == "m")
    frame["years"] = rng.integers(0, 30, ROWS)
    frame["job"] = np.where(rng.random(ROWS) < 0.3, None, rng.choice(["clerk", "cook"], ROWS))
    chance = 1 / (1 + np.exp(-(frame["hours"] - 42) / 6))
    frame["hired"] = (rng.random(ROWS) < chance).astype(int)
    frame.loc[::50, "hired"] = None
    return frame


@pytest.fixture(scope="module")
def spec(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), folder / "people.parquet")
    document = {
        "data": {
            "path": "people.parquet",
            "draw": 1500,
            "protected": ["sex", "race"],
            "label": "hired",
            "favorable": 1,
            "features": ["hours", "years", "job"],
            "keep": [{"column": "years", "at_most": 27}],
        },
        "model": {"train": "logistic"},
        "audits": [{"sensitivity": {"match_set": "off", "bootstrap": 100}}],
    }
    return parse_spec(document, folder)


@pytest.fixture(scope="module")
def found(spec):
    return execute(spec).audits[0]


@pytest.fixture(scope="module")
def everybody(found):
    return pd.read_parquet(found.everybody)


def test_everybody_is_measured_but_those_whom_a_model_learned_from(found, everybody, frame):
    audited = frame.index[(frame["years"] <= 27) & frame["hired"].notna()] + 1
    rows = found.result.rows
    assert rows["audited"] == len(audited)
    assert rows["used"] == len(everybody) == rows["audited"] - sum(rows["left_out"].values())
    assert set(everybody.index) < set(audited)
    drawn = found.result.people  # measured once in memory, once in a batch
    same = everybody.loc[drawn.index]
    assert same["sensitivity"].to_numpy() == pytest.approx(drawn["sensitivity"].to_numpy(), rel=1e-9)
    assert same["score"].to_numpy() == pytest.approx(drawn["score"].to_numpy(), abs=1e-6)
    assert (same["decision"] == drawn["decision"]).all()


def test_the_numbers_are_those_of_everybody_held_at_once(found, everybody, frame):
    result, options = found.result, SensitivityOptions(match_set="off")
    values = everybody["sensitivity"].to_numpy()
    one = np.ones(len(values))
    baseline, threshold = baseline_of(values, one, 0.05), threshold_of(values, one, options)
    assert result.baseline.mean.value == pytest.approx(baseline.mean.value, rel=1e-9)
    assert result.baseline.mean.low == pytest.approx(baseline.mean.low, rel=1e-6)
    assert result.baseline.deviation == pytest.approx(baseline.deviation, rel=1e-5)
    for share, quantile in baseline.quantiles.items():
        folded = result.baseline.quantiles[share]
        for end in ("value", "low", "high"):
            assert getattr(folded, end) == pytest.approx(getattr(quantile, end), rel=3e-4)
    assert result.threshold.value == pytest.approx(threshold.value, rel=3e-4)
    assert result.above == pytest.approx((values > threshold.value).sum(), abs=3)
    assert result.flagged == wilson(result.above, len(values))
    assert sum(result.histogram.people) == len(values)
    held = frame.set_index(frame.index + 1).loc[everybody.index]
    for group in result.groups:
        inside = (held[group.attribute] == group.group).to_numpy()
        assert group.n == inside.sum() == sum(result.histogram.groups[f"{group.attribute}: {group.group}"])
        mine, rest = mean_test(values[inside]), mean_test(values[~inside])
        assert group.mean.value == pytest.approx(mine.mean, rel=1e-9)
        ratio = mean_ratio(mine, rest, level=0.05 / 4)  # two sexes are one look, three races three
        p = ratio_p_value(values, one, inside, np.random.default_rng(0), draws=999)
        if p < 0.05 / 8:
            assert group.ratio.low == pytest.approx(ratio.low, rel=1e-5)
        elif p > 0.05 / 2:
            assert group.ratio.low <= 1 <= group.ratio.high
        assert group.ratio.value == pytest.approx(ratio.value, rel=1e-9)


def test_features_parts_are_those_of_the_drawn_up_to_chance(found):
    result = found.result
    drawn = result.contributions
    shares = (drawn.sum() / drawn.to_numpy().sum()).to_dict()
    assert sum(each.share.value for each in result.by_feature) == pytest.approx(1.0)
    for each in result.by_feature:
        assert each.share.low <= each.share.value <= each.share.high
        assert each.share.value == pytest.approx(shares[each.feature], abs=0.05)
    assert sum(each.share_flagged for each in result.by_feature) == pytest.approx(1.0)


def test_batches_change_nothing_and_results_come_back(spec, found, monkeypatch, tmp_path):
    monkeypatch.setattr(reading, "BATCH_ROWS", 12)  # of some nobody is left out
    again = execute(spec)
    for one, other in zip(again.audits[0].result.groups, found.result.groups, strict=True):
        assert one.ratio.low == pytest.approx(other.ratio.low, rel=1e-9)
        assert one.flagged == other.flagged
    assert "everybody in the table but" in again.audits[0].result.warnings[0]
    again.save(tmp_path)
    loaded = RunResult.load(tmp_path).audits[0]
    pd.testing.assert_frame_equal(
        pd.read_parquet(loaded.everybody), pd.read_parquet(again.audits[0].everybody)
    )


def test_what_cannot_be_done_to_a_batch_is_named(spec):
    data = dataclasses.replace(spec.data, missing="impute")
    found = execute(dataclasses.replace(spec, data=data)).audits[0]
    assert found.everybody is None
    assert "data.missing is not done batch by batch" in found.result.warnings[0]


def test_the_command_writes_everybody_from_a_process_of_its_own(spec, everybody, tmp_path):
    path = spec.base_dir / "spec.json"
    path.write_text(json.dumps(spec.to_dict()), encoding="utf-8")
    out = tmp_path / "out"
    assert main(["run", str(path), "--no-save", "--executor", "process", "--out", str(out)]) == 0
    written = pd.read_parquet(out / "people" / "0-sensitivity-everybody.parquet")
    pd.testing.assert_frame_equal(written, everybody)


@pytest.mark.parametrize("share", [0.5, 0.05])
def test_a_p_value_of_lines_is_that_of_the_people_up_to_its_draws(share):
    """Both are of 999 draws: they differ by less than four standard errors of that."""
    told = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x, inside = rng.lognormal(0, 0.8, 25_000), rng.random(25_000) < share
        ones = np.ones(len(x))
        told.append((_ratio_p_value(x, ones, inside, rng, 999), ratio_p_value(x, ones, inside, rng)))
    of_lines, of_people = np.array(told).T
    np.testing.assert_allclose(of_lines, of_people, atol=4 * np.sqrt(2 * 0.25 / 999) * 2)  # two-sided: twice
