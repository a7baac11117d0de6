"""A plan says what audits could see, from their own verdicts in simulated worlds."""

from __future__ import annotations

from audits.runs.executors.pool import ProcessExecutor
from audits.runs.plans.power import PowerRow, plan
from audits.runs.spec import parse_spec
from audits.runs.storage.store import RunStore
from tests.refused import refused
from tests.runs.conftest import make_spec


def test_more_people_and_larger_differences_are_seen_more_often(base):
    spec = parse_spec(make_spec({"groups": {"bootstrap": 0}}), base)
    rows = {
        (row.people, row.difference): row
        for row in plan(spec, sizes=(20, 2000), differences=(0.0, 0.2), worlds=12)
    }
    assert rows[2000, 0.2].evidence.value == 1  # 20 points among 2,000 people a group
    assert rows[20, 0.2].evidence.value < 0.5
    for row in rows.values():
        shares = [row.evidence.value, row.no_material.value, row.insufficient.value]
        assert sum(shares) <= 1 + 1e-9
    # 12 worlds at level .05: four or more false alarms have a chance of .002
    assert rows[20, 0.0].evidence.value <= 3 / 12
    assert rows[2000, 0.0].evidence.value <= 3 / 12


def test_what_needs_a_model_says_so(base):
    spec = parse_spec(make_spec({"loss_ratio": {"sensitive": ["group"]}}), base)
    [row, *_] = plan(spec, sizes=(50,), differences=(0.0,), worlds=1)
    assert row.evidence.value is None
    assert "predictions" in row.reason


def test_an_executor_plans_and_keeps_no_run(base, tmp_path):
    asked = {"sizes": [40], "others": 60, "differences": [0.3], "worlds": 4}
    spec = make_spec({"groups": {"bootstrap": 0}})
    with ProcessExecutor(1, base=tmp_path, warm=False) as executor:
        run = executor.submit(spec, base, plan=asked)
        assert run.wait(120)
    assert run.status == "done"
    assert [PowerRow.from_json(each) for each in run.planned] == plan(parse_spec(spec, base), **asked)
    assert not RunStore(tmp_path).finished(run.key, None)


def test_bad_numbers_are_one_sentence(base):
    spec = parse_spec(make_spec({"groups": {}}), base)
    for where, changes in {
        "sizes": {"sizes": (1,)},
        "worlds": {"worlds": 0},
        "difference": {"differences": (1.0,)},
    }.items():
        with refused(where):
            plan(spec, **changes)
