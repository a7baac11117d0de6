"""What the page of a monitor says before anything has come in."""

from __future__ import annotations

import pytest

from app.monitor.alarms import alarm_row
from app.monitor.dashboard import alarms_badge
from app.monitor.transfer import example_value
from audits.monitor.alarms import Alarm


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ({"kind": "datetime", "levels": None, "mean": 18_779.4}, "2021-06-01"),
        ({"kind": "integer", "levels": None, "mean": 41.6}, 42),
        ({"kind": "categorical", "levels": ["a", "b"]}, "a"),
    ],
)
def test_the_command_shown_sends_values_like_those_audited(entry: dict[str, object], value: object) -> None:
    assert example_value(entry) == value


def test_only_what_was_watched_gets_a_check_mark() -> None:
    assert alarms_badge(0).startswith("✓")
    assert not alarms_badge(0, over=1).startswith("✓")
    assert alarms_badge(2).startswith("●")


def test_people_of_an_alarm_are_counted_as_its_sentence_counts_them() -> None:
    times = {"raised": 0.0, "latest": 0.0, "ended": None, "acknowledged": None}
    alarm = Alarm(0, "flags", "flags", "high", "", 561, 5677, 0, 2, **times, note="", told="")
    assert alarm_row(alarm)["people"] == "562 to 5,678"
