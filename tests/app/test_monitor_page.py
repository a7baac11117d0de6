"""What the page of a monitor says before anything has come in."""

from __future__ import annotations

import pandas as pd
import pytest

from app.monitor.dashboard import alarms_badge
from app.monitor.transfer import example_value


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


def test_a_date_sent_is_the_day_that_the_encoding_means() -> None:
    days = (pd.Timestamp("2021-06-01") - pd.Timestamp(0)).days
    assert example_value({"kind": "datetime", "levels": None, "mean": days}) == "2021-06-01"


def test_only_what_was_watched_gets_a_check_mark() -> None:
    assert alarms_badge(0).startswith("✓")
    assert not alarms_badge(0, over=1).startswith("✓")
    assert alarms_badge(2).startswith("●")
