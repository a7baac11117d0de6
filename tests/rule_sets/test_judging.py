"""Verdicts follow from the one interval stated; the first score's interval covers what it is about."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import audits
from audits.groups.figures.ranked import draw_ranked, ranked_groups
from audits.rule_sets import RuleSetsOptions, rule_sets
from audits.rule_sets.inference.permutation import first_interval, maxima
from audits.rule_sets.inference.verdicts import _times_needed
from audits.rule_sets.text import headline
from audits.subgroups.cells import memberships
from tests.rule_sets.conftest import crowd, subject_of
from tests.rule_sets.test_inference import people, searched

FAST = {"permutations": 99, "samples": 0}


@pytest.mark.parametrize(("n", "effect"), [(400, 0.0), (3000, 0.3), (40_000, 0.0), (40_000, 0.06)])
@pytest.mark.parametrize("correction", ["max", "holm", "bh"])
def test_one_interval_is_behind_badge_sentence_and_json(n, effect, correction):
    subject = subject_of(crowd(n, seed=4, effect=effect), ("sex", "race"))
    result = rule_sets(subject, RuleSetsOptions(support=0.05, correction=correction, **FAST))
    judged, material = result.judged, result.options["material"]
    interval = judged.interval
    table = result.rule_sets
    apart = (table["low"] > 0) | (table["high"] < 0)
    within = (table["low"] >= -material) & (table["high"] <= material)
    if apart.any():
        assert result.verdict == "evidence of a difference"
        outside = interval.low >= material or interval.high <= -material
        inside = -material <= interval.low and interval.high <= material
        assert judged.material is (True if outside else False if inside else None)
    else:
        assert result.verdict == ("no material difference" if within.all() else "insufficient evidence")
        assert max(-interval.low, interval.high) == max(-table["low"].min(), table["high"].max())
        # the headline states how far the interval of its group reaches
        stated = float(re.search(r"([\d.]+) points?\b", headline(result))[1])
        assert stated == pytest.approx(100 * max(-interval.low, interval.high), abs=0.5)
    values = result.to_json()
    assert values["interval"]["low"] == interval.low
    assert (values["verdict"], values["material"]) == (result.verdict, judged.material)
    if result.verdict == "insufficient evidence":
        assert judged.people_needed > n
    for row in result.leaderboard:
        ends = row.difference
        assert (row.verdict == "evidence of a difference") == (ends.low > 0 or ends.high < 0)
        assert row.people_needed is None or row.people_needed > row.n_in


def test_a_stopped_search_cannot_say_that_nothing_matters():
    subject = subject_of(crowd(40_000, seed=4), ("sex", "race"))
    whole = rule_sets(subject, RuleSetsOptions(support=0.05, **FAST))
    part = rule_sets(subject, RuleSetsOptions(support=0.05, max_candidates=5, **FAST))
    assert whole.verdict == "no material difference"
    assert part.verdict == "insufficient evidence"


def test_people_needed_make_intervals_as_short_as_what_matters():
    subject = subject_of(crowd(400, seed=4), ("sex", "race"))
    result = rule_sets(subject, RuleSetsOptions(support=0.05, **FAST))
    times = result.judged.people_needed / result.n
    level = result.inference["interval_level"]
    for _, item in result.rule_sets.iterrows():
        more = item.copy()
        more[["n_in", "favorable_n_in", "n_out"]] *= times
        more["low"] = more["high"] = 0.0
        assert _times_needed(more, result.options, level) < 1.02


def first_of(seed: int, n: int, effect: float):
    """The interval of the first score in a world where women are favored less, and its truth."""
    rng = np.random.default_rng(seed)
    attributes, _ = people(n, rng)
    chance = 0.5 - effect * (attributes[0].codes == 0)
    everyone, groups = searched(attributes, rng.random(n) < chance, 0.05)
    inside, good = groups.of(np.column_stack([everyone.n, everyone.favorable])).T
    counts = good, inside, everyone.favorable.sum() - good, everyone.total - inside
    null = maxima(everyone, groups, draws=199, rng=rng)
    found = first_interval(everyone, groups, counts, null, level=0.05, rng=rng)
    gaps = good / inside - counts[2] / counts[3]
    first = np.abs(gaps).argmax()
    mine = memberships(groups.cells, groups.rules[[first]])[0][groups.cells.row_cell]
    return found, np.sign(gaps[first]) * (chance[mine].mean() - chance[~mine].mean()), len(groups)


def test_a_clear_first_is_corrected_for_few():
    found, truth, family = first_of(0, 20_000, 0.4)
    assert found.plausible < family / 4
    assert found.low <= truth <= found.high


def test_a_value_with_an_ampersand_keeps_it_in_sentence_and_figure():
    table = pd.DataFrame({"unit": ["Research & Development", "Sales"] * 200, "x": np.arange(400) % 7})
    table["hired"] = (table["unit"] == "Sales") | (table["x"] == 0)
    asked = {"predictions": "hired", "favorable": True, "protected": ["unit"]}
    run = audits.audit(None, table, audits=["groups", "rule_sets"], **asked)
    assert "Research & Development" in headline(run["rule_sets"])
    ranked = draw_ranked(run["groups"], ranked_groups(run["groups"]))
    assert "Research &amp; Development" in " ".join(ranked.layout.yaxis.ticktext)
