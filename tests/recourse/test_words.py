"""What a recourse audit says, in a table of situations: each sentence against the numbers beside it."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from audits.drawing.style import alt_text
from audits.recourse.sections import section
from audits.recourse.text import headline, judged_row
from audits.stats.words import number
from tests.outcome_transport.subjects import Linear, recourse_of, subject_of


def _crowd(
    sizes: dict[str, int], shift: dict[str, float], spread: float = 1.0, seed: int = 0
) -> pd.DataFrame:
    """People of each group, whose x lies that much lower."""
    rng = np.random.default_rng(seed)
    parts = [
        pd.DataFrame({"x": spread * rng.normal(size=n) - shift.get(name, 0.0), "group": name})
        for name, n in sizes.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _out_of_reach(frame: pd.DataFrame, group: str) -> pd.DataFrame:
    """Rows with a second number that nobody can change, so low for a group that no x makes up for it."""
    return frame.assign(z=np.where(frame["group"] == group, -60.0, 0.0))


SITUATIONS = {
    "one group further": _crowd({"a": 200, "b": 200}, {"b": 1.5}),
    "no difference": _crowd({"a": 150, "b": 150}, {}),
    "few people": _crowd({"a": 9, "b": 8}, {"b": 0.7}),
    "three groups": _crowd({"a": 150, "b": 150, "c": 150}, {"b": 0.8, "c": 1.6}),
    "the surest is not the largest": _crowd({"a": 300, "b": 300, "few": 4}, {"b": 0.8, "few": 5.0}),
    "one person far away": _crowd({"a": 60, "b": 60, "one": 1}, {"one": 9.0}),
    "all rejected are of one group": _crowd({"a": 100, "b": 60}, {"b": -9.0}),
    "a group that nothing helps": _out_of_reach(_crowd({"a": 80, "b": 80, "c": 30}, {"b": 0.5}), "c"),
    "all as far": pd.DataFrame({"x": [-1.0, -1.0, 1.0, 1.0, -1.0, -1.0], "group": list("ababab")}),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_words_follow_from_the_numbers(name):
    frame = SITUATIONS[name]
    weights = {"x": 1.0, **({"z": 1.0} if "z" in frame else {})}
    subject = subject_of(frame, Linear(**weights), ("x",))
    result = recourse_of(subject, permutations=99, resolution=0.25, fewest=False, steps=(0, 0.5, 1))
    finding, first = result.finding, headline(result)
    reached = {row.group: row.burden.value for row in result.by_group if row.burden.value is not None}
    # the group said to have furthest to go has the largest burden of all that are shown
    furthest = (
        r"helps,(?: in these data)? (?:people in “)?(.+?)(?:”| people) have furthest to go: "
        r"mean burden ([\d.]+)"
    )
    named = re.search(furthest, finding)
    spread = max(reached.values()) - min(reached.values())
    assert bool(named) == (len(reached) > 1 and spread > 1e-9 * max(reached.values()))
    if named:
        assert named[1] == max(reached, key=reached.__getitem__)
        assert named[2] == number(reached[named[1]])
    # the verdict and the interval that it stands beside agree, and no sentence claims more
    judged = result.judged
    low, high = judged.interval.low, judged.interval.high
    excludes = low is not None and (low > 0 or high < 0)
    assert (result.verdict == "evidence of a difference") == (excludes and judged.p_value <= 0.05)
    claims = re.search(
        r"(?:fewer|more) would be than of others|have (?:slightly )?(?:further|less far) to go", first
    )
    assert bool(claims) == (result.verdict == "evidence of a difference")
    assert ("can't tell" in first) == (result.verdict == "insufficient evidence" and len(result.by_group) > 1)
    assert ("not much harder for any group" in first) == (result.verdict == "no material difference")
    assert len(first.split()) <= 30
    assert not re.search(r"\b1 (?:rejected )?people|[-−+]0\.0\b|that group", finding), finding
    for exhibit in section(result).exhibits:  # a method's letter heads no column that people read
        assert not {"alpha", "median alpha", "reclassified"} & set(exhibit.table().columns)
        assert not re.search(r"\b1 (?:features|rejected people)|[-−+]0\.0\b|% \d", alt_text(exhibit.figure()))
    # whom no step helps: of the matched counterpart, and who else would do, counted the slow way
    never = result.people["alpha"].isna()
    assert ("No step towards the match helps" in finding) == bool(never.any())
    if never.any():
        rest = frame.loc[result.people.index[never]]
        best = frame["x"][np.asarray(subject.decisions)].max() + rest.get("z", 0.0)
        assert f"{int((best >= 0).sum())} of those would be accepted" in finding
    lost = [row.group for row in result.by_group if row.burden.value is None]
    assert any("accepted on the way" in warning for warning in result.warnings) == bool(lost)
    assert (name == "a group that nothing helps") == bool(lost)


def test_the_group_that_is_worse_off_is_named():
    frame = _out_of_reach(_crowd({"women": 80, "men": 30}, {}), "men")
    result = recourse_of(subject_of(frame, Linear(x=1.0, z=1.0), ("x",)), permutations=99, steps=(0, 1))
    assert judged_row(result).group == "men"
    assert "Of men, fewer would be than of others." in headline(result)
    needed, people = section(result).exhibits[0].figure(), result.people
    never = next(trace for trace in needed.data if trace.name == "never")
    groups = sorted(result.by_group, key=lambda row: (row.never.value, row.n))
    for share, row in zip(never.x, groups, strict=True):
        inside = people["group"] == row.group
        assert share == pytest.approx(100 * people.loc[inside, "alpha"].isna().mean())
