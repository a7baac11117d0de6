"""The control chart: exact run lengths against simulation, and the promise it makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from audits.stats.control import Chart, design_chart, flag_rate_bound, run_length
from tests.refused import refused


def slow(chart: Chart, flags: np.ndarray, start: int) -> tuple[list[int], list[int]]:
    value, values, alarms = start, [], []
    for place, flag in enumerate(flags):
        value = max(0, value + (chart.jump if flag else -1))
        values.append(value)
        if value >= chart.limit:
            alarms.append(place)
            value = 0
    return values, alarms


def test_run_lengths_computed_from_outside():
    """At the bound .059864 of the reference stream: 10,193 people in control and 176 out of it."""
    # by hand: limit 1 is geometric; jump 1 and limit 2 give L0 = (1 + p) / p²
    assert run_length(0.05, 3, 1) == pytest.approx(20)
    assert run_length(0.25, 1, 2) == pytest.approx(1.25 / 0.25**2)
    chart = design_chart(0.059864, people_between=10_000)
    assert chart.people_between == pytest.approx(10_193, abs=1)
    assert chart.people_to_detect == pytest.approx(176, abs=0.5)


@settings(max_examples=20)
@given(
    st.lists(st.booleans(), max_size=100),
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(0, 11),
    st.data(),
)
def test_following_equals_the_slow_loop_however_it_is_cut(flags, jump, limit, start, data):
    chart = Chart(0.05, 0.1, jump, limit, 1.0, 1.0)
    start = min(start, limit - 1)
    flags = np.array(flags, dtype=bool)
    values, alarms = slow(chart, flags, start)
    whole = chart.follow(flags, start)
    assert whole.values.tolist() == values
    assert list(whole.alarms) == alarms
    cut = data.draw(st.integers(0, len(flags)))
    first = chart.follow(flags[:cut], start)
    second = chart.follow(flags[cut:], first.value)
    assert [*first.values, *second.values] == values
    assert [*first.alarms, *(cut + place for place in second.alarms)] == alarms


def test_the_bound_of_the_rate_of_flags_is_the_quantile_of_its_law():
    """The share above the 380th of 400 has a Beta law, whatever the distribution."""
    assert flag_rate_bound(20, 400) == pytest.approx(beta.ppf(0.95, 21, 380))


@pytest.mark.parametrize(
    ("rate", "asked", "where"),
    [
        (0.0, {}, "the control chart"),
        (0.5, {}, "the control chart"),
        (0.3, {"times": 1.001, "people_between": 1e300}, "people_between"),
    ],
)
def test_what_no_chart_can_promise_is_refused(rate: float, asked: dict, where: str):
    with refused(where):
        design_chart(rate, **asked)
