"""Groups of rows that are not one independent person each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.groups import GroupsOptions, groups
from audits.models import make_subject, model_spec
from audits.runs.execute import carry_out
from audits.runs.registry import AUDITS
from audits.runs.spec import AuditRequest
from tests.refused import refused

OPTIONS = GroupsOptions(bootstrap=0)


def subject(frame: pd.DataFrame, **section):
    data = build_data(frame, data_spec({"label": "good", "favorable": 1, "protected": ["sex"], **section}))
    return make_subject(data, model_spec({"predictions": {"score": "score"}}))


def repeated(rng: np.random.Generator, persons: int = 60, rows: int = 5) -> pd.DataFrame:
    """Persons whose rows are decided alike (intra-class correlation .6), whatever their sex."""
    own = np.repeat(np.arange(persons), rows)
    chance = rng.beta(0.27, 0.4, persons)[own]
    return pd.DataFrame(
        {
            "who": own,
            "sex": np.where(own % 2, "f", "m"),
            "score": (rng.random(len(own)) < chance).astype(float),
            "good": rng.integers(0, 2, len(own)),
            "extra": rng.normal(size=len(own)),
        }
    )


def test_rates_are_the_same_and_their_people_fewer():
    frame = repeated(np.random.default_rng(1))
    rows = {row.group: row for row in groups(subject(frame), OPTIONS).table}
    result = groups(subject(frame, person="who"), OPTIONS)
    for row in result.table:
        alone, mine = rows[row.group].selection_rate, frame[frame["sex"] == row.group]
        assert row.selection_rate.value == pytest.approx(alone.value)
        assert row.n == pytest.approx(row.selection_rate.n)
        assert row.n < 0.6 * alone.n
        assert row.selection_rate.high - row.selection_rate.low > alone.high - alone.low
        assert row.bootstrap == {}
        assert row.mean_score.n < alone.n
        called = int(mine["score"].sum())
        assert row.rows["selection_rate"] == (called, len(mine)), "a rate is stated of rows"
        assert f"{called} of {len(mine)}" in result.finding
    assert any("effective" in warning for warning in result.warnings)


def test_sampling_weights_weigh_and_make_no_more_people():
    rng = np.random.default_rng(2)
    frame = repeated(rng, 300, 1).assign(weight=rng.lognormal(0, 0.8, 300))
    result = groups(subject(frame, weights={"column": "weight", "kind": "sampling"}), OPTIONS)
    for row in result.table:
        mine = frame[frame["sex"] == row.group]
        share = np.average(mine["score"] >= 0.5, weights=mine["weight"])
        assert row.selection_rate.value == pytest.approx(share)
        assert row.selection_rate.n < len(mine)
    larger = frame.assign(weight=1000 * frame["weight"])
    again = groups(subject(larger, weights={"column": "weight", "kind": "sampling"}), OPTIONS)
    for before, after in zip(result.table, again.table, strict=True):
        assert after.selection_rate.high == pytest.approx(before.selection_rate.high)


def test_probabilities_of_membership_refuse_a_design():
    frame = repeated(np.random.default_rng(1)).assign(p=0.5)
    options = GroupsOptions(by_probability={"race": {"a": "p"}}, bootstrap=0)
    with refused("groups.by_probability"):
        groups(subject(frame, person="who"), options)


@pytest.mark.parametrize("name", sorted(name for name, audit in AUDITS.items() if not audit.designs))
def test_every_other_audit_refuses_samples_by_design(name):
    """Whichever way an audit is asked for, it goes through `carry_out`; its options do not matter here."""
    frame = repeated(np.random.default_rng(1), 20).assign(weight=2.0)
    sampled = subject(frame, weights={"column": "weight", "kind": "sampling"}, person="who")
    with refused(f"audits[0].{name}"):
        carry_out(AuditRequest(name, None), 0, sampled, 0)


@pytest.mark.parametrize("sex", [None, ["f", "m"]])
def test_no_group_hangs_on_which_rows_of_persons_are_drawn(sex):
    frame = repeated(rng := np.random.default_rng(1), 200)
    frame["sex"] = frame["sex"] if sex is None else rng.choice(sex, len(frame))
    audited = subject(frame, person="who")
    drawn = [audited.one_row_each(np.random.default_rng(seed)).data.frame for seed in (0, 0, 1, 2, 3, 4)]
    rows = [list(each.index) for each in drawn]
    assert (rows[0] == rows[1], rows[1] == rows[2]) == (True, False)
    for each in drawn:
        assert sorted(each["who"]) == list(range(200))
        for column in ("score", "good"):
            off = each.groupby("sex")[column].sum() - frame.groupby("sex")[column].sum() / 5
            assert off.abs().max() < 3.5, "of rows drawn without regard to others, up to 10 and more"
