"""Figures of rule sets: every row labeled as the user wrote it, nothing read as markup, an alt text each."""

from __future__ import annotations

import pytest

from audits.drawing.style import alt_text
from audits.rule_sets import RuleSetsOptions, rule_sets
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
