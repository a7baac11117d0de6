"""Change one word: by hand, on *Loans*, and where an answer would lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from audits.attribute_swap import AttributeSwapOptions, AttributeSwapResult, SwapRow, attribute_swap, figures
from audits.attribute_swap.text import headline, notes
from audits.checks import build
from audits.comparison.attribute_swap import compare
from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec
from audits.models import subject as models
from audits.runs.executors.inline import InlineExecutor
from audits.runs.registry import AUDITS, usual_audits
from tests.refused import refused

LOANS = Path(__file__).resolve().parents[2] / "sample_data"


class Rule:
    """A model of any function, which counts what it is asked."""

    name, classes, invents, sha256 = "rule", None, True, "0" * 64

    def __init__(self, columns: tuple[str, ...], function: Callable[[pd.DataFrame], Any]):
        self.columns, self.function, self.asked = columns, function, []

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        self.asked.append(frame)
        return np.asarray(self.function(frame), dtype=float)


def subject_of(
    frame: pd.DataFrame,
    model: object,
    threshold: Any = 0.5,
    protected: tuple[str, ...] = ("sex",),
    **data: Any,
) -> Subject:
    features = tuple(name for name in model.columns if name in frame)
    built = build_data(frame, DataSpec(protected=protected, features=features, **data))
    return models.subject_of(built, model, threshold=threshold, score_kind="probability")


def swap(subject: Subject, **options: Any) -> AttributeSwapResult:
    return attribute_swap(subject, build(AttributeSwapOptions, options, "attribute_swap"))


def row(result: AttributeSwapResult, source: str, target: str, group: str = "") -> SwapRow:
    found = {(each.source, each.target, each.group): each for each in result.swaps}
    return found[source, target, group or source]


def people(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex, town = (rng.choice(values, n) for values in (["female", "male"], ["north", "south"]))
    age, skill = rng.integers(18, 80, n), rng.random(n).round(3)
    return pd.DataFrame({"sex": sex, "town": town, "age": age, "skill": skill})


def less(by: float) -> Rule:
    """Women's skill counts as less than it is."""
    return Rule(("sex", "skill"), lambda rows: rows["skill"] - by * (rows["sex"] == "female"))


def test_loans() -> None:
    """As recomputed by code of its own: 56 → 89 of 124, 75 → 48 of 106, applicant 4872 .726 → .842."""
    spec = yaml.safe_load((LOANS / "loans.yaml").read_text(encoding="utf-8"))
    spec["audits"] = [{"attribute_swap": {"attribute": ["sex"]}}]
    found = InlineExecutor().submit(spec, LOANS).result().audits[0]
    result = found.result
    women = row(result, "female", "male", "female & Velian & age [18, 30)")
    men = row(result, "male", "female", "male & Velian & age [18, 30)")
    for each, counts in ((women, [124, 56, 89, 33, 0]), (men, [106, 75, 48, 0, 27])):
        parts = (each.before, each.after, each.gained, each.lost)
        assert [each.n, *map(each.people, parts)] == pytest.approx(counts)
    applicant = result.people.loc[4872]
    assert (round(applicant["score"], 3), round(applicant["score_after"], 3)) == (0.726, 0.842)
    assert (applicant["decision"], applicant["decision_after"]) == (False, True)
    assert sum(each.people(each.changed) for each in result.swaps if not each.within) == pytest.approx(60)
    assert result.deciding is women
    assert (result.judged.badge, result.judged.interval) == ("difference", women.net)
    assert result.judged.p_value == women.p_value < 1e-6, "evidence outlasts the other audits of a run"
    assert "33 of 68" in found.headline


def test_by_hand() -> None:
    frame = pd.DataFrame({"sex": list("ffffmmmm"), "skill": [0.9, 0.7, 0.6, 0.2, 0.9, 0.7, 0.6, 0.2]})
    model = Rule(("sex", "skill"), lambda table: table["skill"] - 0.3 * (table["sex"] == "f"))
    result = swap(subject_of(frame, model))
    women, men = row(result, "f", "m"), row(result, "m", "f")
    assert [each.value for each in (women.before, women.after, women.net)] == [0.25, 0.75, 0.5]
    assert [each.value for each in (men.gained, men.lost, men.changed, men.net)] == [0, 0.5, 0.5, -0.5]
    assert women.mean_score_change.value == pytest.approx(0.3)
    assert women.mean_score_change.low is None, "four women who move alike have shown no spread"
    assert result.verdict == "insufficient evidence", "two of four women are no evidence about others"
    assert result.judged.badge == "cannot tell yet"
    again = result.people
    assert again["decision_after"].sort_index().tolist() == [*[True] * 3, False, True, *[False] * 3]
    assert again["to"].sort_index().tolist() == list("mmmmffff")


def test_a_model_that_does_not_read_it_is_not_cleared_and_not_asked() -> None:
    subject = subject_of(people(), model := Rule(("skill",), lambda rows: rows["skill"]))
    model.asked.clear()
    result = swap(subject)
    assert not model.asked
    assert {(each.net.low, each.net.value, each.net.high) for each in result.swaps} == {(0.0, 0.0, 0.0)}
    assert (result.verdict, result.judged.badge) == ("insufficient evidence", "no verdict")
    assert AUDITS["attribute_swap"].section(result).exhibits[0].figure().data[0].meta["value"] == 0.0


def test_thresholds_by_group_count_as_read() -> None:
    model = Rule(("skill",), lambda rows: rows["skill"])
    result = swap(subject_of(people(2000), model, {"sex": {"female": 0.7, "male": 0.4}}))
    assert row(result, "female", "male").net.value == pytest.approx(0.3, abs=0.05)
    assert result.judged.badge == "difference"


def test_predictions_are_refused_with_the_way_out() -> None:
    built = build_data(people(), DataSpec(protected=("sex",), features=("skill",)))
    with refused("model"):
        swap(make_subject(built, model_spec({"predictions": {"score": "skill"}})))
    assert "attribute_swap" in usual_audits(built)
    assert "attribute_swap" not in usual_audits(built, anew=False)


def test_a_number_gets_the_median_of_each_range_that_somebody_has() -> None:
    frame = people(500)
    model = Rule(("age", "skill"), lambda table: table["skill"] * (table["age"] > 40))
    subject = subject_of(frame, model, protected=("age",), bins={"age": [18, 30, 50, 80]})
    model.asked.clear()
    assert swap(subject).pairs == 6
    ages = np.sort(frame["age"])
    parts = [ages[(ages >= a) & (ages < b)] for a, b in ((18, 30), (30, 50), (50, 81))]
    given = {age for each in model.asked for age in each["age"].unique()}
    assert given == {each[(len(each) - 1) // 2] for each in parts}


def test_pairs_left_out_are_said_and_the_largest_are_asked() -> None:
    drawn = np.random.default_rng(1).choice(list("abcdefg"), 1000, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05])
    subject = subject_of(people(1000).assign(sex=drawn), less(0.0))
    result = swap(subject)
    assert (result.pairs, result.pairs_asked) == (42, 20)
    assert {each.source for each in result.swaps} == set("abcde")
    assert swap(subject, material=0.5).judged.badge == "no verdict"  # a tenth of people have f or g
    cleared = swap(subject, material=0.5, max_pairs=42)
    assert cleared.judged.badge == "no material difference"
    unknown = replace(
        cleared, judged=replace(cleared.judged, verdict="insufficient evidence", reason="pairs")
    )
    assert headline(unknown) != headline(cleared), "nothing is said to be little where it is not known"


def test_attributes_together() -> None:
    def both(table: pd.DataFrame) -> Any:
        return table["skill"] - 0.4 * ((table["sex"] == "female") & (table["town"] == "north"))

    model = Rule(("sex", "town", "skill"), both)
    result = swap(subject_of(people(2000), model, protected=("sex", "town")), together=True)
    assert {each.attribute for each in result.swaps} == {"sex × town"}
    assert row(result, "female & north", "male & south").net.value > 0.3
    assert row(result, "female & south", "male & south").net.value == 0.0


def test_gains_and_losses_that_cancel_are_not_cleared() -> None:
    def mixed(table: pd.DataFrame) -> Any:
        return np.where(table["skill"] < 0.4, table["sex"] == "male", table["sex"] == "female")

    frame = people(4000).assign(skill=np.tile([0.1, 0.3, 0.6, 0.9], 1000))  # two of each decide either way
    result = swap(subject_of(frame, Rule(("sex", "skill"), mixed)))
    assert result.deciding.net.value == pytest.approx(0.0, abs=0.05)
    assert result.verdict == "insufficient evidence"
    assert result.judged.decided_by.startswith("changed: ")
    assert (result.judged.badge, result.judged.material) == ("no verdict", True)
    assert result.judged.interval == result.deciding.changed
    dots = [trace for trace in figures.net(result).data if trace.type == "scatter"]
    drawn = next(trace for trace in dots if trace.customdata is not None)
    assert max(abs(x) for x in drawn.x) < 10, "shares of decisions changed are no net shares"


def test_nothing_to_find_is_cleared() -> None:
    result = swap(subject_of(people(2000), less(-0.001)))
    assert (result.verdict, result.judged.badge) == ("no material difference", "no material difference")


def test_harm_to_a_small_group_is_evidence_and_never_cleared() -> None:
    def some(table: pd.DataFrame) -> Any:
        return table["skill"] - 0.6 * ((table["sex"] == "female") & (table["town"] == "isle"))

    frame = people(4000)
    frame.loc[frame.index % 20 == 0, "town"] = "isle"  # 200 people, 100 women: 5%
    subject = subject_of(frame, Rule(("sex", "town", "skill"), some), protected=("sex", "town"))
    result = swap(subject, attribute="sex")
    assert abs(row(result, "female", "male").net.value) < 0.1
    assert result.verdict == "evidence of a difference"
    assert "isle" in result.deciding.group


@pytest.mark.parametrize(("changed", "evident"), [(5, False), (9, True)])
def test_few_changes_go_by_the_exact_sign_test(changed: int, evident: bool) -> None:
    """Five gains and no loss are p = .06 in two directions, nine are .004; two groups are looked at."""
    frame = pd.DataFrame({"sex": ["f", "m"] * 500, "skill": np.repeat(np.arange(500), 2)})

    model = Rule(("sex", "skill"), lambda rows: 1.0 - ((rows["skill"] < changed) & (rows["sex"] == "f")))
    result = swap(subject_of(frame, model))
    assert (result.verdict == "evidence of a difference") is evident


def test_a_mean_change_allows_for_changes_that_few_people_did_not_show() -> None:
    """Of 25, where 8% change by half the scale: samples in which none does had an interval of their noise."""

    def rare(frame: pd.DataFrame) -> Any:
        return 0.1 * frame["skill"] + (frame["sex"] == "male") * (0.01 * frame["skill"] + 0.5 * frame["rare"])

    held = 0
    for seed in range(40):
        frame = people(50, seed)
        frame["rare"] = np.random.default_rng([seed, 1]).random(50) < 0.08
        told = row(swap(subject_of(frame, Rule(("sex", "skill", "rare"), rare))), "female", "male")
        held += told.mean_score_change.low <= 0.01 * 0.5 + 0.5 * 0.08 <= told.mean_score_change.high
    assert held >= 38


def test_rows_of_one_person_are_counted_as_no_people() -> None:
    """60 rows of 6 persons are no 60 people: not as stated, not for an all-clear, and not to settle it."""
    frame = people(120).assign(who=range(120))
    frame["town"] = np.where(frame["who"] < 12, "south", "north")
    model, both = less(0.01), {"protected": ("sex", "town")}
    found = swap(subject_of(pd.concat([frame] * 10, ignore_index=True), model, **both, person="who"))
    single = swap(subject_of(frame, model, **both))
    assert not any(each.counted for each in found.swaps)
    assert all(each.counted for each in single.swaps)
    for each in found.swaps:
        assert 0 < each.n <= (frame[list(each.where)] == pd.Series(each.where)).all(axis=1).sum()
    small = [each for each in found.swaps if each.within and each.where["town"] == "south"]
    assert [each.covered for each in small] == [False] * 4, "60 rows, but 6 persons"
    assert found.judged.people_needed == pytest.approx(single.judged.people_needed, rel=0.2)
    together, alone = (row(each, "female", "male").net for each in (found, single))
    assert together.high - together.low > 0.95 * (alone.high - alone.low)


def test_a_column_that_tells_the_attribute_is_named() -> None:
    frame = people(400)
    frame["title"] = np.where(frame["sex"] == "female", "Ms", "Mr")
    result = swap(subject_of(frame, Rule(("title", "sex", "skill"), less(0.3).function)))
    assert any("“title”" in each for each in result.warnings)


def test_terms_of_texts() -> None:
    words = ["gay", "straight", "gay", "nobody"]
    frame = pd.DataFrame({"text": [f"A {words[k % 4]} friend {k}" for k in range(400)]})
    model = Rule(("text",), lambda table: 1.0 - table["text"].str.lower().str.contains("gay"))
    subject = subject_of(
        frame.assign(source=list("xy") * 200), model, protected=("source",), kinds={"text": "text"}
    )
    result = swap(subject)
    gay, straight = row(result, "gay", "straight", "“gay”"), row(result, "straight", "gay", "“straight”")
    assert (gay.n, gay.gained.value, straight.n, straight.lost.value) == (200, 1.0, 100, 1.0)
    assert (result.verdict, result.pairs) == ("evidence of a difference", 2)
    with refused("attribute_swap.attribute"):
        swap(subject, attribute="sex")


def test_two_models_are_paired() -> None:
    frame = people(1000)
    results = [swap(subject_of(frame, model)) for model in (less(0.3), less(0.0))]
    found = compare(*results)
    where = "swaps[sex: female → male, female].net"
    [moved] = [each for each in found.rows if each.where == where]
    assert moved.moved.value == pytest.approx(-row(results[0], "female", "male").net.value)
    interval = moved.moved.interval(0.05)
    assert interval.low < moved.moved.value < interval.high < 0
    assert not compare(results[0], swap(subject_of(frame.iloc[:900], less(0.0)))).rows
    unread = swap(subject_of(frame, Rule(("skill",), lambda table: table["skill"])))
    for result, none in ((results[1], False), (unread, True)):  # nobody's decision turns with either
        ends = compare(result, result).rows[0].moved.interval(0.05)
        assert (ends.low, ends.high) == (0, 0) if none else ends.low < 0 < ends.high


def test_bad_choices_are_refused_in_a_sentence() -> None:
    for protected, attribute in ((("sex",), ["skill"]), ((), None)):
        with refused("attribute_swap.attribute"):
            swap(subject_of(people(), less(0.3), protected=protected), attribute=attribute)


def test_small_groups_of_what_is_not_read_need_no_caution() -> None:
    """Nothing changes for them, either: that is exact for a group of any size."""
    some = swap(subject_of(people(400), less(0.0))).swaps
    said = []
    for read in (True, False):
        rows = [replace(each, read=read, covered=False) for each in some]
        said.append(len(list(notes(rows, pairs_left=0, groups_left=0, stand_ins=()))))
    assert said[0] == said[1] + 1
