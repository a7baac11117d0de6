"""Figures of rule sets: every row labelled as the user wrote it, nothing read as markup, an alt text each."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from audits.drawing.style import alt_text
from audits.rule_sets import RuleSetsOptions, combination_tree, group_neighbours, members, profile, rule_sets
from audits.rule_sets.figures import leaderboard as figures
from tests.rule_sets.conftest import crowd, subject_of


@pytest.fixture(scope="module")
def audited():
    frame = crowd(3000, effect=0.35)
    frame["race"] = frame["race"].replace({"d": "<b>Northern & Eastern</b>", "a": "A" * 70})
    subject = subject_of(frame, ("sex", "race"))
    return subject, rule_sets(subject, RuleSetsOptions(support=0.02, permutations=99, samples=0))


def labels(figure):
    return [note.text for note in figure.layout.annotations]


def test_leaderboard_labels_every_bar_in_at_most_three_lines(audited):
    _, result = audited
    figure = figures.leaderboard(result)
    assert len(labels(figure)) == len(result.leaderboard)
    first = result.leaderboard[0]
    assert first.confirmed
    assert labels(figure)[-1].startswith("✓ people with sex = f and race = &lt;b&gt;Northern &amp;<br>")
    for text in labels(figure):
        assert text.count("<br>") <= 2
        assert "<b>" not in text
    decisive, bars = figure.data[:2]
    assert decisive.meta == {key: getattr(result.judged.interval, key) for key in ("value", "low", "high")}
    assert set(decisive.y) == {len(bars.x) - 1}
    # harmed groups to the left, others to the right; bars and labels share their places
    assert list(bars.x) == pytest.approx([100 * row.difference.value for row in result.leaderboard[::-1]])
    assert list(bars.y) == list(range(len(result.leaderboard)))
    assert figure.layout.annotations[-1].y == pytest.approx(len(bars.y) - 1, abs=0.5)
    assert "first people with sex = f and race" in alt_text(figure)
    pale = [row.verdict != "evidence of a difference" for row in result.leaderboard[::-1]]
    assert [color == bars.marker.color[0] for color in bars.marker.color] == [
        each == pale[0] for each in pale
    ]


def test_neighbours_and_profile_label_their_rows(audited):
    subject, result = audited
    number = result.leaderboard[0].number
    steps = group_neighbours(result, number)
    figure = figures.neighbours(steps)
    assert labels(figure)[-1].startswith("sex = f")
    assert figure.data[0].x[-1] == pytest.approx(100 * steps["difference"].iloc[0])
    table = profile(subject.data.frame, members(result, number), ["age", "income"])
    figure = figures.profile(table)
    assert [text.split(":")[0] for text in labels(figure)] == list(table["column"][::-1])
    assert np.allclose(figure.data[0].x, table["distance"][::-1])


def test_sunburst_sweep_and_scatter_say_what_they_show(audited):
    _, result = audited
    tree = combination_tree(result)
    ring = tree[tree["parent"] == ""]
    assert ring["people"].sum() == result.n
    assert "People by" in alt_text(figures.sunburst(tree))
    swept = figures.sweep(result)
    assert max(swept.data[0].y) < swept.layout.yaxis.range[1]
    assert "rule sets by share of people" in alt_text(figures.support_and_score(result))


def test_many_rule_sets_are_thinned_out_and_said_to_be(audited):
    _, result = audited
    table = result.rule_sets.loc[result.rule_sets.index.repeat(150)]
    assert len(table) > 2000
    figure = figures.support_and_score(dataclasses.replace(result, rule_sets=table))
    assert len(figure.data[0].x) <= 2000
    assert figure.data[0].name == f"{len(figure.data[0].x):,} of {len(table):,} rule sets"
    assert figure.data[0].type == "scatter", "no WebGL, which a browser may lack"
