"""A plan of a group comparison says what it could see, from its own verdicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.errors import InputError
from audits.groups import GroupsOptions, groups
from audits.groups.planning import plan_groups
from audits.models import make_subject, model_spec


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": 0.0, "sex": rng.choice(["f", "m"], 400), "score": rng.random(400), "y": rng.integers(0, 2, 400)}
    )
    spec = data_spec({"label": "y", "favorable": 1, "protected": ["sex"]})
    subject = make_subject(build_data(frame, spec), model_spec({"predictions": {"score": "score"}}))
    return groups(subject, GroupsOptions(bootstrap=0))


def test_more_people_see_more_and_without_a_difference_there_is_no_evidence(result):
    few, many = (plan_groups(result, (n, n), (0.0, 0.25), worlds=20) for n in (15, 1500))
    assert many[1].evidence.value == 1
    assert few[1].evidence.value < 0.5
    for row in (few[0], many[0]):
        assert row.evidence.value <= 4 / 20  # at level .05 more have a chance of .003
    for row in (*few, *many):
        assert sum(each.value for each in (row.evidence, row.no_material, row.insufficient)) == pytest.approx(
            1
        )
    assert many[0].no_material.value > 0.5


def test_the_smaller_group_decides(result):
    [even], [uneven] = (plan_groups(result, sizes, (0.2,), worlds=20) for sizes in ((400, 400), (770, 30)))
    assert uneven.evidence.value < even.evidence.value


@pytest.mark.parametrize(("sizes", "differences"), [((30,), (0.1,)), ((30, 1), (0.1,)), ((30, 30), (1.0,))])
def test_bad_numbers_are_named(result, sizes, differences):
    with pytest.raises(InputError, match=r"sizes must|differences must"):
        plan_groups(result, sizes, differences)
