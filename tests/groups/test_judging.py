"""Limits, the order of findings, reference groups and impact ratios."""

from __future__ import annotations

import pandas as pd

from audits.groups import GroupsOptions, GroupsResult, most_telling
from audits.groups.audit import groups_from_people
from audits.groups.inference import RATIO, GroupLimit, by_importance, judge_difference


def compared(counts: dict[str, tuple[int, int]], **options: object) -> GroupsResult:
    """So many of so many favorable in each group of one attribute."""
    people = pd.DataFrame(
        [(name, place < some) for name, (some, n) in counts.items() for place in range(n)],
        columns=["group: g", "decision"],
    )
    people = people.assign(score=people["decision"].astype(float), people=1.0)
    return groups_from_people(
        people, ("g",), GroupsOptions(bootstrap=0, **options), "favorable", len(people), 0
    )


def test_an_adverse_ratio_at_low_rates_is_never_small():
    """Call-backs of 6.45 against 9.65%."""
    result = compared({"Black": (157, 2435), "white": (235, 2435)})
    assert (result.verdict, result.judged.badge) == ("evidence of a difference", "difference")
    assert result.judged.decided_by == "average"
    alone = compared({"Black": (157, 2435), "white": (235, 2435)}, material_on="difference")
    assert alone.judged.badge == "small difference"


def test_equal_low_rates_are_clear_only_where_the_ratio_is():
    few = compared({"a": (20, 1000), "b": (20, 1000)})
    assert (few.verdict, few.judged.decided_by) == ("insufficient evidence", RATIO)
    assert few.judged.interval == few.table[1].differences["selection_rate"].ratio
    assert few.judged.people_needed > 1000
    more = few.judged.people_needed
    many = compared({"a": (round(0.02 * more), more), "b": (round(0.02 * more), more)})
    assert many.verdict == "no material difference"
    assert compared({"a": (20, 1000), "b": (20, 1000)}, material_on="difference").verdict == many.verdict


def test_what_is_open_is_named_and_nothing_has_no_ratio():
    low = compared({"a": (1000, 10_000), "b": (860, 10_000)})  # 1.4 points; .86 of the rate, or .79
    assert (low.judged.badge, low.judged.material) == ("difference", None)
    assert low.judged.limit_name == "ratio of 0.8"
    assert not compared({"a": (900, 2000), "b": (700, 2000)}).judged.limit_name
    nobody = compared({"a": (0, 400), "b": (0, 300)})
    assert (nobody.verdict, nobody.judged.decided_by) == ("no material difference", "average")


def test_ratio_alone_is_a_limit_at_every_rate():
    limit = GroupLimit.of(0.1, "ratio", overall=0.5, decisions=True)
    found = judge_difference((4500, 10_000), (5000, 10_000), 10_000, limit=limit, level=0.05)
    assert (found.verdict, found.material) == ("evidence of a difference", False)  # 0.9
    found = judge_difference((3500, 10_000), (5000, 10_000), 10_000, limit=limit, level=0.05)
    assert (found.verdict, found.material) == ("evidence of a difference", True)


def test_the_largest_material_difference_leads_whatever_groups_are_called():
    counts = {"z": (2500, 5000), "a": (2265, 5000), "y": (440, 2000), "b": (660, 2000)}
    result = compared(counts)
    assert [row.group for row, _ in by_importance(result.table)] == ["y", "b", "a"]
    assert most_telling(result.table)[1].group == "z"


def test_the_reference_is_no_matter_of_the_alphabet_and_never_missing():
    for first, second in (("a", "b"), ("b", "a")):
        result = compared({first: (100, 400), second: (300, 400)})
        assert next(row for row in result.table if row.is_reference).group == second
    result = compared({"(missing)": (900, 2000), "a": (500, 1000), "b": (480, 1000)})
    assert most_telling(result.table)[1].group in {"a", "b"}


def test_people_whose_group_is_missing_are_no_less_than_a_group():
    # known people lead where they differ as surely, not where they differ by less than the limit
    for others, leads in ((9990, "(missing)"), (7000, "b"), (9300, "(missing)")):
        result = compared({"a": (10_000, 20_000), "b": (others, 20_000), "(missing)": (100, 1000)})
        assert (result.verdict, result.judged.material) == ("evidence of a difference", True)
        assert most_telling(result.table)[0].group == leads
    known = {"a": (1000, 2000), "b": (1010, 2000)}
    assert compared({**known, "(missing)": (25, 60)}).verdict == "insufficient evidence"
    assert compared({**known, "(missing)": (1, 3)}).verdict == "no material difference"


def test_two_groups_of_two_are_neither_headline_nor_least_ratio():
    counts = {"a": (500, 1000), "b": (480, 1000), "c": (2, 2), "d": (0, 2)}
    result = compared(counts)
    spread = result.spreads[0]
    assert spread.demographic_parity_difference.value == 1.0
    assert spread.demographic_parity_difference.low < 0.2
    assert most_telling(result.table)[0].group == "b"
    plain = compared({"a": (500, 1000), "b": (480, 1000)}).spreads[0].demographic_parity_ratio
    assert (spread.demographic_parity_ratio.low, spread.demographic_parity_ratio.high) == (
        plain.low,
        plain.high,
    )
    apart = {row.group: row.impact_ratio.value for row in result.table}
    assert (apart["c"], apart["d"]) == (2.0, 0.0)


def test_a_group_of_two_leaves_others_clear_but_one_of_sixty_does_not():
    assert compared({"a": (500, 1000), "b": (480, 1000), "c": (2, 2)}).verdict == "no material difference"
    more = compared({"a": (1500, 3000), "b": (1480, 3000), "c": (30, 60)})
    assert (more.verdict, most_telling(more.table)[0].group) == ("insufficient evidence", "c")
