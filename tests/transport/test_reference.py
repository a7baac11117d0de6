"""Published and independently measured numbers."""

from __future__ import annotations

import numpy as np

from audits.transport import estimated_bytes, estimated_seconds, exact_coupling
from tests.transport.published import lipton_hiring


def flips(women, men, coupling, work, hair, cut) -> tuple[int, int]:
    """Count the women hired whose counterpart is not, and the reverse."""
    weights = np.array([work, hair])
    hired, counterpart = women @ weights > cut, coupling.average(men @ weights > cut)
    return round((hired & (counterpart < 0.5)).sum()), round((~hired & (counterpart > 0.5)).sum())


def test_hiring_of_1_000_women_and_men():
    women, men = lipton_hiring(1_000)
    coupling = exact_coupling(women, men)
    assert round(coupling.cost, 6) == 4.860449
    assert flips(women, men, coupling, 1.2956, 1.0862, 0.8668) == (157, 136)
    assert coupling.slack <= 1e-10 * coupling.cost


def test_estimates_grow_with_the_problem_and_match_the_issue_s_sizes():
    assert estimated_seconds(6_172, 6_172, 1) < 0.1
    assert estimated_seconds(5_000, 5_000, 8) < estimated_seconds(10_000, 10_000, 8) < 20
    assert estimated_seconds(20_000, 20_000, 8) < 60
    assert estimated_seconds(100_000, 100_000, 8) > 120
    assert estimated_seconds(10_000, 10_000, 8) < estimated_seconds(10_000, 10_000, 100)
    assert estimated_bytes(20_000, 20_000, 8) < 2.5e9 < 4e9 < estimated_bytes(200_000, 200_000, 8)
