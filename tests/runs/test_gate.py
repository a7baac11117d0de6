"""The gate's rules, baselines and waivers on results made by hand."""

from __future__ import annotations

import json
import re
from datetime import date

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from audits.cli.specs import read_spec
from audits.notebook import audit
from audits.runs.execute import execute
from audits.runs.gates.baselines import baseline_of
from audits.runs.gates.check import check
from audits.runs.gates.gate import judge, read_gate
from audits.runs.gates.reports import github_annotations, junit_xml, markdown, not_judged_lines
from audits.runs.spec import parse_spec
from audits.stats.paired_shares import paired_difference
from tests.refused import refused


def estimate(value, low, high, n=100):
    return {"value": value, "low": low, "high": high, "n": n, "method": "Wilson 95%"}


class Stated:
    """A run of `groups` with two attributes, as results.json has it."""

    def to_json(self):
        rows = [
            ("sex", "f", 0.7, 0.6, 0.85, 100),
            ("sex", "m", 1.0, 1.0, 1.0, 90),
            ("race", "A", 0.82, 0.75, 0.9, 60),
            ("race", "B", None, None, None, 3),
        ]
        again = {"impact_ratio": estimate(0.1, 0.1, 0.1)}  # a second interval of the same number
        table = [
            {"attribute": attribute, "group": group, "impact_ratio": estimate(*told), "bootstrap": again,
             "differences": {}}
            for attribute, group, *told in rows
        ]  # fmt: skip
        entry = {
            "audit": "groups", "options": {"material": 0.1}, "verdict": "no material difference",
            "verdict_across": "no material difference", "finding": "They hardly differ.", "table": table,
            "spreads": [
                {"attribute": "sex", "demographic_parity_difference": estimate(0.3, 0.2, 0.4)},
                {"attribute": "race", "demographic_parity_difference": estimate(0.1, 0.0, 0.2)},
            ],
            "demographic_parity_difference": estimate(0.3, 0.2, 0.4),
        }  # fmt: skip
        return {"evenhand": "0", "data": {"rows_used": 10, "rows_read": 10}, "audits": [entry]}


def ends(**rule):
    """What each number under a rule is found to be, by its group."""
    judged = judge(Stated(), read_gate([rule]))
    return {item.where.split("]")[0][len(".table[") :]: item.state for item in judged.checks}


@pytest.mark.parametrize(
    ("on", "bound", "states"),
    [
        ("value", 0.8, {"sex: f": "broken", "sex: m": "kept"}),
        ("upper", 0.8, {"sex: f": "kept", "sex: m": "kept"}),  # 0.85 does not exclude 0.8
        ("lower", 0.6, {"sex: f": "kept", "sex: m": "kept"}),
        ("lower", 0.61, {"sex: f": "broken", "sex: m": "kept"}),
    ],
)
def test_a_rule_holds_the_number_or_an_end_of_its_interval(on, bound, states):
    assert ends(metric="impact_ratio", by="sex", at_least=bound, on=on) == states


def test_a_number_that_is_not_known_breaks_its_rule_unless_too_few_people_are_judged():
    assert ends(metric="impact_ratio", by="race", at_least=0.5)["race: B"] == "broken"
    found = ends(metric="impact_ratio", by="race", at_least=0.5, people_at_least=30)
    assert found == {"race: A": "kept", "race: B": "not judged"}


def test_a_headline_that_repeats_a_part_is_looked_at_once():
    judged = judge(Stated(), read_gate([{"metric": "demographic_parity_difference", "at_most": 0.25}]))
    assert [(item.where, item.state) for item in judged.checks] == [
        (".spreads[sex].demographic_parity_difference at most 0.25", "broken"),
        (".spreads[race].demographic_parity_difference at most 0.25", "kept"),
    ]
    finding = judged.stopped[0].finding
    assert re.findall(r"\d\.\d+|\b100\b", finding) == ["0.300", "0.200", "0.400", "100", "0.300", "0.25"]


@pytest.mark.parametrize(
    ("gate", "refusal"),
    [
        ([{"metric": "impact_ratios", "at_least": 0.8}], ("gate.rules[0].metric", "'impact_ratio'")),
        ([{"metric": "impact_ratio", "by": "age", "at_least": 0.8}], ("gate.rules[0].by",)),
        ([{"metric": "impact_ratio"}], ("gate.rules[0]", "at_least", "at_most")),
        ([{"metric": "x", "at_least": 1, "at_most": 0}], ("gate.rules[0].at_least", "at_most")),
        ({"rules": [{"metric": "x", "at_lest": 1}]}, ("gate.rules[0].at_lest",)),
        ({"waivers": [{"what": "x", "reason": "new", "until": ""}]}, ("gate.waivers[0].until", "til must")),
        ({"baseline": "nowhere.json"}, ("gate.baseline",)),
        ({"waivers": []}, ("gate", "evidence: 0")),
    ],
)
def test_a_wrong_rule_is_told(gate, refusal):
    with refused(*refusal):
        judge(Stated(), read_gate(gate))


def test_a_waiver_passes_what_it_names_until_its_day_and_says_when_it_is_of_no_use():
    rule = {"metric": "impact_ratio", "by": "sex", "at_least": 0.8}
    name = "audits[0].groups.table[sex: f]"
    waivers = [
        {"what": name, "reason": "new data in March", "until": "2027-03-31"},
        {"what": "audits[0].groups.table[sex: m*", "reason": "not needed", "until": "2027-03-31"},
    ]
    gate = read_gate({"rules": [rule], "waivers": waivers})
    judged = judge(Stated(), gate, today=date(2027, 3, 31))
    assert judged.stopped == []
    assert [item.name.startswith(name) for item, _ in judged.waived] == [True]
    [note] = judged.notes
    assert "audits[0].groups.table[sex: m*" in note
    assert "new data in March" in markdown(judged, Stated())
    later = judge(Stated(), gate, today=date(2027, 4, 1))
    assert [item.name.startswith(name) for item in later.stopped] == [True]
    assert "2027-03-31" in later.notes[0]
    assert read_gate(gate.to_dict()) == gate


def hired(rates):
    """A run over people told as (sex, people, share hired)."""
    rows = [(name, k < round(n * p)) for name, n, p in rates for k in range(n)]
    table = pd.DataFrame(rows, columns=["sex", "hired"])
    return audit(None, table[["sex"]], predictions=table["hired"].astype(int), favorable=1,
                 protected="sex", audits=["groups"], search=False)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "now", "grown", "state"),
    [
        (0.4, -0.5, 0.9, "broken"),
        (0.4, -0.02, -0.38, "kept"),
        (0.02, -0.08, 0.06, "kept"),  # not known to be material,
        (0.4, 0.5, 0.1, "kept"),
    ],
)
def test_a_reversed_difference_that_is_material_has_grown_by_its_whole_move(
    tmp_path, before, now, grown, state
):
    """By hand: from 40 points ahead to 50 behind is a move of 90, not a growth of 10."""

    def run(gap):
        rates = [("m", 1000, 0.55 - gap / 2), ("f", 900, 0.55 + gap / 2)]
        return hired(rates)

    for on in ("value", "lower"):
        (check,) = held(run(before), run(now), tmp_path, slack=0.12, on=on).checks
        assert check.state == state
        said = re.findall(r"[-−]?\d+\.\d+", check.finding)[0]
        assert float(said.replace("−", "-")) == pytest.approx(grown, abs=0.002)


def held(then, now, folder, **baseline):
    """What the gate says of a run held to another one, after its way through a file."""
    (folder / "then.json").write_text(baseline_of(then))
    return judge(now, read_gate({"baseline": {"path": "then.json", **baseline}}, "gate"), folder)


@pytest.mark.parametrize(
    ("then", "now", "stopped"),
    [
        ("f 990 .5, m 1010 .52, x 800 .5", "f 1010 .35, m 990 .65, x 800 .35", ["sex: m"]),
        ("m 2000 .5, f 1500 .5", "m 2000 .5, f 1500 .2, x 3000 .2", ["sex: f"]),
        ("m 2000 .5, f 1500 .5", "m 2000 .5, f 1500 .5, x 3000 .2", []),
    ],
)
def test_a_gap_is_held_to_its_baseline_when_another_group_is_the_largest(tmp_path, then, now, stopped):
    """The largest group is what others are compared with: it changes, and the gap is still the same gap."""

    def run(told):
        rates = [group.split() for group in told.split(", ")]
        return hired([(name, int(n), float(share)) for name, n, share in rates])

    found = held(run(then), run(now), tmp_path)
    assert [re.search(r"\[(sex: \w)\]", each.name)[1] for each in found.stopped] == stopped


@pytest.mark.parametrize(("now", "state"), [(0.2, "broken"), (0.45, "kept")])
def test_a_rule_holds_a_number_to_what_it_was(tmp_path, now, state):
    """That no women are hired 10 points less often than before, by what is known of it at most."""
    (tmp_path / "then.json").write_text(baseline_of(hired([("m", 900, 0.5), ("f", 800, 0.5)])))
    rule = {"metric": "selection_rate", "group": "f", "at_least": -0.1, "on": "upper"}
    gate = read_gate([{**rule, "baseline": "then.json"}])
    (found,) = judge(hired([("m", 900, 0.5), ("f", 800, now)]), gate, tmp_path).checks
    assert found.state == state
    assert state == "kept" or "-0.300" in found.finding.replace("−", "-")


def test_decisions_about_the_same_people_change_by_newcombes_interval(tmp_path):
    """At the level of one rule, divided by the two groups whose rates it holds."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sex": np.repeat(["f", "m"], [120, 180]), "now": rng.random(300) < 0.5})
    table["then"] = table["now"] & (rng.random(300) < 0.9)
    table.astype({"now": int, "then": int}).to_csv(tmp_path / "t.csv", index=False)
    data = {"path": "t.csv", "favorable": 1, "protected": ["sex"]}
    then, now = (
        execute(parse_spec({"data": data, "model": {"predictions": {"label": name}}, "audits": ["groups"],
                            "search": "off"}, tmp_path))
        for name in ("then", "now")
    )  # fmt: skip
    (tmp_path / "then.json").write_text(baseline_of(then))
    gate = read_gate([{"metric": "selection_rate", "at_least": 0, "baseline": "then.json"}])
    for said, sex in zip(judge(now, gate, tmp_path).checks, "mf", strict=True):
        own = table[table["sex"] == sex]
        cells = pd.crosstab(own["now"], own["then"])
        change = paired_difference(*(float(cells.loc[at]) for at in PAIRS), level=0.05 / 2)
        told = [float(each) for each in re.findall(r"-?\d\.\d+", said.finding.replace("\u2212", "-"))]
        assert told[:3] == pytest.approx([change.value, change.low, change.high], abs=1e-3)


def test_a_rule_about_several_numbers_of_other_people_gives_each_a_wider_interval(tmp_path):
    (tmp_path / "then.json").write_text(baseline_of(hired([("m", 900, 0.5), ("f", 800, 0.5)])))
    rule, told = {"metric": "selection_rate", "at_least": -0.1, "baseline": "then.json"}, []
    for whose in ({"group": "f"}, {}):
        checks = judge(hired([("m", 910, 0.5), ("f", 790, 0.4)]), read_gate([rule | whose]), tmp_path).checks
        women = next(each for each in checks if "f:" in each.finding or len(checks) == 1).finding
        told.append([float(each) for each in re.findall(r"-?\d\.\d+", women.replace("\u2212", "-"))][:3])
    (value, low, high), (same, lower, higher) = told
    assert value == same
    times = norm.isf(0.0125) / norm.isf(0.025)
    assert [lower - value, higher - value] == pytest.approx(
        [times * (low - value), times * (high - value)], abs=2e-3
    )


PAIRS = [(True, True), (True, False), (False, True), (False, False)]


def audited(rows, audits, *, protected=("race", "sex")):
    """A run over people told as (race, sex, people, share hired)."""
    people = [(race, sex, k % 2, k < round(n * share)) for race, sex, n, share in rows for k in range(n)]
    table = pd.DataFrame(people, columns=["race", "sex", "x", "hired"])
    data = table[["race", "sex", "x"]]
    return audit(None, data, predictions=table["hired"].astype(int), favorable=1, search=False,
                 protected=list(protected), audits=audits)  # fmt: skip


def states(now, then, tmp_path):
    """What the gate says of each difference, by audit and row, after a baseline's way through a file."""
    found = held(then, now, tmp_path).checks
    return {(each.place, each.where.split("]")[0][len(".table[") :]): each.state for each in found}


EVEN = [("A", "m", 900, 0.5), ("A", "f", 800, 0.5), ("B", "m", 700, 0.5), ("B", "f", 600, 0.5)]
WOMEN = [(race, sex, n, 0.2 if sex == "f" else 0.5) for race, sex, n, _ in EVEN]
RACE, SEX = {"groups": {"by": ["race"]}}, {"groups": {"by": ["sex"]}}
BOTH = {"groups": {"by": ["race", "sex"]}}
EXPLAIN = {"explain": {"source": {"sex": "f"}, "target": {"sex": "m"}, "explainers": ["x"]}}


@pytest.mark.parametrize(
    ("then", "now"),
    [([EXPLAIN, RACE, SEX], [RACE, SEX]), ([RACE, SEX], [RACE, BOTH, SEX]), ([RACE, SEX], [SEX, RACE])],
)
def test_an_audit_is_held_to_its_own_in_the_baseline_wherever_it_is(tmp_path, then, now):
    found = states(audited(WOMEN, now), audited(EVEN, then), tmp_path)
    assert found[now.index(SEX), "sex: f"] == "broken"
    if RACE in now:
        assert found[now.index(RACE), "race: B"] == "kept"


@pytest.mark.parametrize(("b", "state", "sizes"), [(24.0, "broken", (600, 900)), (28.0, "kept", (900, 600))])
def test_a_difference_in_amounts_is_held_to_its_baseline(tmp_path, b, state, sizes):
    """By hand: B's mean is 2 below A's; then 6 or still 2, also where B is now the reference."""

    def run(means, sizes):
        parts = [(race, mean + k % 7 - 3) for race, mean, n in zip("AB", means, sizes, strict=True)
                 for k in range(n - n % 7)]  # fmt: skip
        table = pd.DataFrame(parts, columns=["race", "pay"])
        table.to_csv(tmp_path / "pay.csv", index=False)
        data = {"path": "pay.csv", "label": "pay", "outcome": "numeric", "protected": ["race"]}
        spec = {"data": data, "audits": ["groups"], "search": "off"}
        (tmp_path / "audit.yaml").write_text(json.dumps(spec))
        return execute(read_spec(tmp_path / "audit.yaml"))

    checks = held(run((30.0, 28.0), (900, 600)), run((30.0, b), sizes), tmp_path, slack=0.5).checks
    group = "B" if sizes == (900, 600) else "A"
    rates = [f".amounts.table[race: {group}].differences.{rate}" for rate in ("mean", "median", "q10", "q90")]
    assert [each.where.split(" grown")[0] for each in checks] == rates
    assert [each.state for each in checks] == [state] * 4


def test_an_intersection_is_the_same_in_another_order_of_its_attributes(tmp_path):
    crossed = [(race, sex, n, 0.7 if (race == "A") == (sex == "m") else 0.3) for race, sex, n, _ in EVEN]
    then, now = audited(EVEN, ["groups"]), audited(crossed, ["groups"], protected=("sex", "race"))
    found = states(now, then, tmp_path)
    assert found[0, "sex × race: f & A"] == found[0, "sex × race: m & B"] == "broken"
    assert found[0, "sex × race: f & B"] == "kept"


def test_what_a_gate_does_not_judge_is_told_wherever_it_reports(tmp_path):
    """Women are called f, then w; B has left: neither has a difference that both runs know."""
    then = audited(EVEN, [SEX, RACE])
    renamed = [("A", {"f": "w"}.get(sex, sex), n, share) for race, sex, n, share in WOMEN if race == "A"]
    renamed += [("C", "x", 700, 0.5)]
    with refused("gate.baseline"):  # not a single one is shared
        held(then, audited(renamed, [SEX]), tmp_path)
    now = audited([*renamed, ("C", "f", 600, 0.5)], [SEX])
    judged = held(then, now, tmp_path)
    assert {each.where.split("]")[0][-1] for each in judged.not_judged} == {"w", "x", "B"}
    assert not judged.stopped
    lines, notes = "\n".join(not_judged_lines(judged)), github_annotations(judged, "audit.yaml")
    for shown in (lines, junit_xml(judged), markdown(judged, now), notes):
        plain = shown.replace("\\", "").replace("%3A", ":")
        assert all(f"{name}].differences" in plain for name in ("sex: w", "sex: x", "race: B"))
    with pytest.warns(UserWarning, match="sex: w"):
        check(now, baseline=tmp_path / "then.json")


@pytest.mark.parametrize(("material", "passes"), [(None, True), (False, True), (True, False)])
def test_evidence_at_a_level_is_no_more_material_than_that_of_its_audit(material, passes):
    """A level states no size against the limit: whether it is beyond is said of the audit alone."""
    level = {"attribute": "age", "level": "35", "verdict": "evidence of a difference"}
    entry = {**level, "audit": "explain", "verdict_across": level["verdict"], "finding": "", "options": {}}

    class Explained:
        def to_json(self):
            found = {**entry, "material": material, "levels": [level]}
            return {"data": {"rows_used": 10, "rows_read": 10}, "audits": [found]}

    assert bool(judge(Explained(), read_gate({"material": 0})).stopped) is not passes
    assert judge(Explained(), read_gate({"evidence": 0})).stopped
