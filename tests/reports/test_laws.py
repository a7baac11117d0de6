"""Reports in the shape of laws: their own numbers by hand, and what they say where they cannot know."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

import audits
from audits.groups import bias_tables
from audits.report_kinds import TEMPLATES
from audits.reports.blocks import Facts, Grid, Text
from audits.reports.html import arrange
from audits.reports.laws.local_law_144 import not_assessed
from audits.reports.laws.uniform_guidelines import impact


def people(counts: dict[str, tuple[int, int]], **more) -> audits.Findings:
    """A run of `groups` over people of which so many of so many in each group are selected."""
    rows = [(name, int(k < selected)) for name, (selected, n) in counts.items() for k in range(n)]
    table = pd.DataFrame(rows, columns=["race", "selected"])
    table["x"] = np.arange(len(table)) % 7
    return audits.audit(
        None, table, predictions="selected", favorable=1, protected=["race"], audits=["groups"], **more
    )


def told(run, template: str) -> str:
    blocks = arrange(run, template).blocks
    return "\n".join(block.text for block in blocks if isinstance(block, Text))


@pytest.fixture(scope="module")
def run():
    # 48 of 80 = .6; 12 of 40 = .3; 30 of 60 = .5; 1 of 2 = .5, of 182 people (1.1%)
    return people({"white": (48, 80), "black": (12, 40), "asian": (30, 60), "other": (1, 2)})


def test_the_four_fifths_rule_by_hand(run):
    (table,) = bias_tables(run["groups"])
    found = impact(table).set_index("group")
    assert found["impact ratio"].round(6).to_dict() == pytest.approx(
        {"white": 1.0, "asian": 0.833333, "black": 0.5, "other": np.nan}, nan_ok=True
    )
    assert found["below four fifths"].to_dict() == {
        "white": None, "asian": False, "black": True, "other": None,
    }  # fmt: skip

    # both tails of hypergeometric distributions, by hand, then Holm over the three pairs
    def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
        (k, n), (j, m) = first, second
        chances = hypergeom(n + m, k + j, n).pmf(np.arange(n + 1))
        return chances[chances <= chances[k] * (1 + 1e-7)].sum()

    white, black, asian = (48, 80), (12, 40), (30, 60)
    single = {"bw": fisher(black, white), "aw": fisher(asian, white), "ab": fisher(asian, black)}
    assert single["bw"] < single["ab"] < single["aw"]
    assert found["p"]["black"] == pytest.approx(3 * single["bw"])
    assert found["p"]["asian"] == pytest.approx(max(2 * single["ab"], single["aw"]))
    assert found["beyond chance"].to_dict() == {"white": None, "asian": False, "black": True, "other": None}
    assert not found["one person"]["black"]
    assert "black:" in told(run, "four_fifths")
    assert "asian:" not in told(run, "four_fifths")


def test_one_person_more_turns_the_order_of_small_groups():
    run = people({"white": (3, 5), "black": (2, 5)})
    (table,) = bias_tables(run["groups"])
    found = impact(table).set_index("group")
    assert found["below four fifths"]["black"]
    assert found["one person"]["black"], "3 of 5 against 2 of 5"
    assert not found["beyond chance"]["black"]
    assert "black:" in told(run, "four_fifths")


def test_a_group_too_small_for_a_ratio_is_named_where_it_is_below():
    sizes = {"a": (500, 1000), "b": (480, 970), "c": (3, 30)}
    assert "c:" in told(people(sizes), "four_fifths")
    assert "c:" not in told(people({**sizes, "c": (15, 30)}), "four_fifths")


def test_nobody_below_and_a_group_without_anyone_selected():
    (table,) = bias_tables(people({"a": (50, 100), "b": (49, 100)})["groups"])
    assert not impact(table)["below four fifths"].eq(True).any()
    (table,) = bias_tables(people({"a": (40, 100), "b": (32, 100)})["groups"])
    assert not impact(table).set_index("group")["below four fifths"]["b"], "exactly four fifths"
    (table,) = bias_tables(people({"a": (0, 30), "b": (1, 30), "c": (30, 30)})["groups"])
    assert impact(table).set_index("group")["below four fifths"].to_dict() == {
        "c": None,
        "a": True,
        "b": True,
    }


def test_people_without_a_label_are_not_told_as_left_out_of_tables_that_count_them():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"race": ["a", "b"] * 200, "x": np.arange(400) % 7, "hired": rng.integers(0, 2, 400)}
    )
    table["y"] = table["hired"].where(rng.random(400) < 0.6)
    rest = {"predictions": "hired", "favorable": 1, "protected": ["race"], "audits": ["groups"]}
    run = audits.audit(None, table, "y", **rest)
    (counted,) = bias_tables(run["groups"])
    unlabeled = int(table["y"].isna().sum())
    assert counted.rows["people"].sum() == 400 == run.data["rows_used"] + unlabeled
    assert run.data["rows_unlabeled"] == unlabeled == sum(run.data["excluded"].values())
    assert not_assessed(run) == []
    table.loc[table.index[table["y"].isna()][:4], "hired"] = None
    (block,) = not_assessed(audits.audit(None, table, "y", **rest))
    assert sum(int(each) for each in re.findall(r"\b\d+\b", block.text)) == 4


def test_people_who_stand_for_several_are_not_counted_one_by_one():
    rows = pd.DataFrame({"race": ["a", "b"] * 50, "y": [1, 0, 1, 1] * 25, "w": [1.5, 2.5] * 50})
    weights = {"column": "w", "kind": "sampling"}
    asked = {"predictions": "y", "favorable": 1, "protected": ["race"], "audits": ["groups"]}
    run = audits.audit(None, rows, weights=weights, **asked)
    (table,) = bias_tables(run["groups"])
    assert impact(table, counted=False)["p"].isna().all()
    for template in ("ll144", "four_fifths", "sr_11_7"):
        facts = dict(row for b in arrange(run, template).blocks if isinstance(b, Facts) for row in b.rows)
        assert "100" not in facts.values()
        assert run.model["rule"] in facts.values(), "how people were selected, not what came true"
        assert facts.get("Variables") != "y", "a stored prediction is no input"


@pytest.mark.parametrize("template", ["ll144", "four_fifths"])
def test_small_groups_have_their_ratios_in_a_second_table(run, template):
    first, second = (block for block in arrange(run, template).blocks if isinstance(block, Grid))
    assert second.name.startswith(first.name)
    left_out, counted = (
        {line[0].text: line[grid.head.index("impact ratio")] for line in grid.rows}["other"]
        for grid in (first, second)
    )
    assert left_out.text == "–"
    assert counted.exact[0] == pytest.approx(0.5 / 0.6)
    for share in (0.0, 0.001):  # none is asked to be left out, or none is so small
        [only] = (b for b in arrange(run, template, exclude_under=share).blocks if isinstance(b, Grid))
        assert [[cell.text for cell in row] for row in only.rows] == [
            [cell.text for cell in row] for row in second.rows
        ]


def test_a_run_without_groups_has_every_report():
    """As one whose audits are of another kind: no report may fail for want of a table of groups."""
    without = dataclasses.replace(people({"white": (48, 80), "black": (12, 40)}), audits=())
    assert all(arrange(without, template).title for template in TEMPLATES)
