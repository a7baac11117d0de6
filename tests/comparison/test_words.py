"""How a change is said, in a table of situations."""

from __future__ import annotations

import pytest

from audits.comparison.text import change_words, sentence
from audits.stats import Estimate, judge

LONG = [
    f"people of the {side} district, counted in the last census of 1991"
    for side in ("northern upper", "southern lower")
]


def _at(value: float, reach: float = 0.1, n: float = 400) -> Estimate:
    return Estimate(value, value - reach, value + reach, n, "")


@pytest.mark.parametrize(
    ("kind", "before", "after", "reach", "material", "told"),
    [
        ("number", 1.737, 1.742, 0.004, 0.001, "raises the size a little above 1.74 (+0.001 to +0.009)."),
        ("number", -0.27, -0.05, 0.4, 0.1, "changes the size: from −0.270 to −0.05 (−0.180 to +0.620)."),
        ("share", 0.6, 0.6, 0.3, 0.1, "changes the size: 60% with either (−30 to +30 points)."),
        ("share", 0.6, 0.6, 0.05, 0.1, "changes nothing that matters: the size stays at 60%."),
        ("share", 0.6, 0.65, 0.02, 0.1, "from 60 to 65%, by less than matters (+3 to +7 points)."),
        ("gap", -0.21, -0.21, 0.05, 0.1, "changes nothing that matters: the size stays at 21 points."),
        ("gap", 0.12, 0.01, 0.02, 0.05, "narrows the size from 12 points to 1 (9 to 13 fewer)."),
        ("gap", 0.01, 0.01, 0.2, 0.05, "changes the size: 1 point with either (−20 to +20 points)."),
    ],
)
def test_a_change_is_said_as_its_numbers_are(kind, before, after, reach, material, told):
    judged = judge(_at(after - before, reach), immaterial=(-material, material))
    said = sentence("size", kind, _at(before), _at(after), judged)
    assert said.endswith(told), said


def test_long_names_are_shortened_where_they_differ():
    name = f"gap left between people in “{LONG[0]}” and people in “{LONG[1]}” alike in skill"
    said = sentence(name, "gap", _at(0.07), _at(0.13), judge(_at(0.06, 0.2), immaterial=(-0.1, 0.1)))
    assert len(said.split()) <= 30, said
    assert "northern" in said
    assert "southern" in said
    assert said.endswith("7 against 13 points.")
    assert said.count("“") == said.count("”")


def test_one_point_is_one():
    assert change_words(Estimate(-0.01, None, None, 100, ""), "gap") == "-1 point, no interval"
