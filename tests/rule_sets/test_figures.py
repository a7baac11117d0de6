"""Figures of rule sets: every row labeled as the user wrote it, nothing read as markup, an alt text each."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from audits.drawing.style import alt_text
from audits.rule_sets import RuleSetsOptions, group_neighbours, members, profile, rule_sets
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


def test_every_condition_of_a_long_name_is_seen_above_its_row(audited):
    """Of each of two long conditions both its attribute and its value stand within two lines."""
    _, result = audited
    rules = tuple(
        {
            "attribute": name,
            "words": f"{name} of the household in the year of applying = not stated by {name} value",
            "values": [name],
        }
        for name in ("first", "second")
    )
    board = (dataclasses.replace(result.leaderboard[0], rules=rules), *result.leaderboard[1:])
    label = labels(figures.leaderboard(dataclasses.replace(result, leaderboard=board)))[-1]
    assert label.count("<br>") <= 2
    for name in ("first", "second"):
        assert f"{name} of" in label.replace("<br>", " ")
        assert f"{name} value" in label.replace("<br>", " ")
