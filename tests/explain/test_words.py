"""What an explain audit says of its numbers, in a table of situations."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from audits.explain.figures import values
from audits.explain.result import Explained, ExplainResult, ValueRow
from audits.explain.words import finding, headline
from audits.stats import Estimate, judge

NOWHERE = Estimate(0.0, 0.0, 0.0, 100, "")


def _points(value: float, low: float, high: float) -> Estimate:
    return Estimate(value / 100, low / 100, high / 100, 400, "")


def _left(estimate: Estimate, *columns: str, kind: str = "") -> Explained:
    return Explained(columns, NOWHERE, estimate, NOWHERE, NOWHERE, 0.1, 0.0, 0.5, 1.0, 1.0, kind)


@pytest.mark.parametrize(
    ("gap", "left", "told"),
    [
        # told in the direction of the gap, whichever group comes first
        (
            _points(-40, -52, -28),
            _points(-17, -28, -6),
            "40.0 points less often than north people (28.0 to 52.0)",
        ),
        (
            _points(-40, -52, -28),
            _points(-17, -28, -6),
            "alike in job, 17.0 points of it are left (6.0 to 28.0)",
        ),
        (_points(40, 28, 52), _points(17, 6, 28), "40.0 points more often than north people (28.0 to 52.0)"),
        (_points(-40, -52, -28), _points(9, 2, 16), "9.0 points the other way are left (−16.0 to −2.0)"),
        (_points(0, -4, 4), _points(0, -4, 4), "decided favorably as often as north people (−4.0 to 4.0)"),
        (
            _points(-0.01, -4, 4),
            _points(0, -0.01, 4),
            "alike in job, 0.0 points of it are left (−4.0 to 0.0)",
        ),
    ],
)
def test_the_finding_is_told_in_the_direction_of_the_gap(gap, left, told):
    together = _left(left, "job")
    judged = judge(left, immaterial=(-0.1, 0.1))
    said = finding("south", "north", gap, (), together, judged, 0.1)
    assert said.startswith("In all, south people are decided favorably ")
    assert told in said
    assert "−0.0" not in said


def _result(**known: object) -> ExplainResult:
    rates = {"source_rate": Estimate(0.4, 0.3, 0.5, 80, ""), "target_rate": Estimate(0.8, 0.7, 0.9, 80, "")}
    return SimpleNamespace(**({"source": "south", "target": "Other"} | rates | known))


@pytest.mark.parametrize(("rate", "told"), [(0.0, "No decision on"), (1.0, "Every decision on")])
def test_nobody_and_everybody_leave_no_gap_to_explain(rate, told):
    same = Estimate(rate, None, None, 80, "")
    judged = judge(NOWHERE, immaterial=(-0.1, 0.1))
    found = _result(
        source_rate=same, target_rate=same, gap=NOWHERE, together=_left(NOWHERE), judged=judged,
        verdict="insufficient evidence",
    )  # fmt: skip
    both = "south people and people in “Other”"
    assert headline(found) == f"{told} {both} is favorable, so there is no gap to explain."


def test_a_gap_that_is_smaller_among_people_alike_is_not_said_to_stay():
    gap, left = _points(-36, -44, -27), _points(-17, -27, -6)
    judged = judge(left, immaterial=(-0.1, 0.1))
    found = _result(gap=gap, together=_left(left, "job"), judged=judged, verdict=judged.verdict)
    assert headline(found) == (
        "The 36-point gap between south people and people in “Other” is about 17 points among people alike "
        "in “job”."
    )


def test_names_in_a_legend_are_never_cut_where_they_differ():
    shared = "people who were counted in the last census of the old town's"
    rows = tuple(ValueRow(each, 9, 9, 0.5, 0.5, NOWHERE) for each in ("3600 to 12500", "12500 to 40000"))
    found = _result(
        source=f"{shared} northern district", target=f"{shared} southern district", values=rows,
        each=(_left(NOWHERE, "income"),), options={},
    )  # fmt: skip
    drawn = values(found)
    names = [trace.name for trace in drawn.data]
    assert [("northern" in name, "southern" in name) for name in names] == [(True, False), (False, True)]
    assert list(drawn.layout.yaxis.ticktext) == ["12,500 to 40,000", "3600 to 12,500"]
