"""The gate: what a run may state before a build fails: verdicts of a kind, numbers, growth since then."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Any, Literal

from pydantic import Field

from audits.checks import Strict, adapter, build
from audits.errors import InputError
from audits.runs.gates.baselines import GateBaseline, baseline_in, growth, read_baseline
from audits.runs.gates.places import group_rows, records_in
from audits.runs.gates.rules import BaselineRule, Number, Rule, Waiver, check_words, numbers
from audits.runs.multiple_testing import level_of
from audits.runs.registry import AUDITS
from audits.stats import EVIDENCE, INSUFFICIENT, Estimate
from audits.stats.text import number, people
from audits.stats.verdicts import MATERIAL_DIFFERENCE

Most = Annotated[int, Field(strict=True, ge=0)] | None


@dataclass(frozen=True, kw_only=True)
class Gate(Strict):
    """What a spec's ``gate`` holds: the most verdicts of a kind that still pass, and rules for numbers.

    Every verdict that the results state counts once, those of single groups too: a group whose rate differs
    is one, not also the group and the audit that say so because of it.

    Attributes
    ----------
    evidence, material, insufficient : int
        Largest number of such verdicts that passes; by default any number.
    rules : tuple of Rule
        What single numbers must be: [{metric: impact_ratio, by: sex, at_least: 0.8, on: lower}].
    baseline : BaselineRule
        A file of `evenhand baseline`: no difference between groups may have grown since. {path, slack, on}.
        Without path in a run with compare: none may grow from the first model to the second.
    waivers : tuple of Waiver
        What passes for a while: [{what: NAME, reason: …, until: 2027-01-31}].
    """

    evidence: Most = None
    material: Most = None
    insufficient: Most = None
    rules: tuple[Rule, ...] = ()
    baseline: BaselineRule | None = None
    waivers: tuple[Waiver, ...] = ()

    def over(self, stated: list[Statement]) -> list[Statement]:
        """Return the statements of each kind of which there are more than pass, in their order."""
        evidence = [item for item in stated if item.verdict == EVIDENCE]
        kinds = (
            (self.evidence, evidence),
            (self.material, [item for item in evidence if item.material]),
            (self.insufficient, [item for item in stated if item.verdict == INSUFFICIENT]),
        )
        stopped = [item for most, found in kinds if most is not None and len(found) > most for item in found]
        return [item for item in stated if item in stopped]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, without what is left out."""
        plain = adapter(Gate).dump_python(self, mode="json", exclude_none=True)
        return {key: value for key, value in plain.items() if value != []}


def read_gate(value: Any, where: str = "gate") -> Gate:
    """Return a gate from plain data: limits, or a list of rules alone.

    Raises
    ------
    InputError
        For the first thing that is wrong.
    """
    if isinstance(value, list):
        value = {"rules": value}
    if isinstance(value, dict) and isinstance(value.get("baseline"), str):
        value = {**value, "baseline": {"path": value["baseline"]}}
    gate = build(Gate, value, where)
    if not gate.to_dict().keys() - {"waivers"}:  # it would pass whatever a run says
        raise InputError(where, "must limit something", value, "write gate: {evidence: 0}")
    for place, rule in enumerate(gate.rules):
        rule.check(f"{where}.rules[{place}]")
    return gate


STRICT = Gate(evidence=0)
"""What ``--fail-on evidence`` means."""

MATERIAL = Gate(material=0)
"""What ``--fail-on material`` means."""


@dataclass(frozen=True)
class Statement:
    """One verdict in results.json: its audit and place in the spec, the path below it, what it rests on.

    The verdict is the one after correction for all audits of the run: where an audit's evidence does not
    outlast it, neither does that of its parts. Evidence is material where its interval lies outside the
    limit, and where a plugin's results do not say; of a part that does not say, where its audit's evidence
    is. The run's search, which nobody named, counts as one.
    """

    audit: str
    place: int
    where: str
    verdict: str
    finding: str
    material: bool = False

    @property
    def name(self) -> str:
        """Name of the audit, by its place in the spec, with the path."""
        return f"{'search' if self.place < 0 else f'audits[{self.place}]'}.{self.audit}{self.where}"


@dataclass(frozen=True)
class GateCheck(Statement):
    """One number compared with a rule; `verdict` says how that ended."""

    state: Literal["kept", "broken", "not judged"] = "kept"


@dataclass(frozen=True)
class GateJudgment:
    """What a gate says of a run.

    Attributes
    ----------
    stated : list of Statement
        Every verdict, in the order of results.json.
    checks : list of Check
        Every number that a rule is about.
    stopped : list of Statement
        What does not pass: verdicts above their limit and broken rules.
    waived : list of (Statement, Waiver)
        What would not pass and may for a while.
    notes : tuple of str
        Waivers that have run out, or that nothing needs.
    """

    stated: list[Statement]
    checks: list[GateCheck]
    stopped: list[Statement]
    waived: list[tuple[Statement, Waiver]]
    notes: tuple[str, ...] = ()

    @property
    def not_judged(self) -> list[GateCheck]:
        """Numbers that a rule or the baseline is about and that nothing holds: no reader should think so."""
        return [item for item in self.checks if item.state == "not judged"]


class GateFailed(AssertionError):
    """The gate stops a run; the message names each reason with its finding, and where to look next.

    Attributes
    ----------
    results : object
        What was found, as `check` returns it where it passes.
    """

    def __init__(self, message: str, results: Any = None) -> None:
        super().__init__(message)
        self.results = results


def next_look(result: Any, stopped: Sequence[Statement], *, written: bool = False) -> list[str]:
    """Return for each audit that a gate stops where to look next: its page, its people, its method.

    `written` says that tables and report lie in a folder, as the command line leaves them.
    """
    tables = result.tables
    lines = []
    for name in dict.fromkeys(item.audit for item in stopped):
        people = [each for each in tables if each.split("-")[0] == name and tables[each].index.name == "row"]
        place = "tables/{}.csv" if written else "results.tables['{}']"
        held = f"people in {place.format(people[0])}; " if people else ""
        report = "report.html" if written else "results.report('report.html')"
        lines.append(f"Next, {name}: the page “{AUDITS[name].title}”, or {report}; {held}"
                     f"the method by `evenhand explain {name}`.")  # fmt: skip
    return lines


def judge(
    result: Any, gate: Gate, base_dir: Path | None = None, *, today: date | None = None
) -> GateJudgment:
    """Hold a run against a gate.

    Parameters
    ----------
    result : RunResult
        The run.
    gate : Gate
        Limits, rules, baseline and waivers.
    base_dir : Path, optional
        Folder that baselines are named from; the current one by default.
    today : date, optional
        The day for waivers; the real one by default.

    Raises
    ------
    InputError
        If a rule is about nothing that these results state, or a baseline cannot be read.
    """
    stated, checks = statements(result), list(_checks(result, gate, base_dir or Path()))
    day = (today or date.today()).isoformat()
    valid = [waiver for waiver in gate.waivers if day <= waiver.until]

    def waiver(item: Statement) -> Waiver | None:
        return next((each for each in valid if each.covers(item.name)), None)

    broken = [item for item in checks if item.state == "broken"]
    stopped = [*gate.over([item for item in stated if not waiver(item)]), *broken]
    everything = [*gate.over(stated), *broken]
    waived = [(item, found) for item in everything if (found := waiver(item))]
    used = [each for _, each in waived]
    notes = [
        f"The waiver of {each.what} ended on {each.until}." for each in gate.waivers if each not in valid
    ]
    notes += [f"The waiver of {each.what} is not used: remove it." for each in valid if each not in used]
    return GateJudgment(stated, checks, [item for item in stopped if not waiver(item)], waived, tuple(notes))


def _checks(result: Any, gate: Gate, base_dir: Path) -> Iterator[GateCheck]:
    """Yield a check for every number that a rule or the gate's baseline is about."""
    entries = result.to_json()["audits"] if gate.rules else []
    for place, rule in enumerate(gate.rules):
        where = f"gate.rules[{place}]"
        found = numbers(entries, rule, where)
        if rule.baseline is None:
            yield from (_check_number(each, rule, each.estimate) for each in found)
        else:
            baseline = read_baseline(base_dir / rule.baseline, f"{where}.baseline")
            yield from _since(result, found, rule, baseline)
    if gate.baseline is None:
        return
    if gate.baseline.path is not None:
        baseline = read_baseline(base_dir / gate.baseline.path, "gate.baseline")
        yield from _growths(result, gate.baseline, baseline, "since the baseline")
    elif getattr(result, "compared", None) is None:
        raise InputError(
            "gate.baseline.path", "is missing",
            advice="name a file written by evenhand baseline, or compare with a second model: compare: "
            "{model: …}",
        )  # fmt: skip
    else:
        since = "from the first model to the second"
        yield from _growths(result.compared.second, gate.baseline, baseline_in(result), since)


def _check_number(item: Number, rule: Rule, estimate: Mapping[str, Any] | None) -> GateCheck:
    """Hold one number against its rule."""
    name = rule.metric.replace("differences.", "difference in ").replace("_", " ").replace(".", " ")
    whose = ": ".join(part for part in (item.attribute, item.group) if part)
    looked_at = (estimate or item.estimate).get("n")
    about = f"{name}{f' of {whose}' if whose else ''}"
    asked = rule.words()
    if estimate is None:
        return _check(item, asked, "not judged", f"{about} is not in the baseline")
    told = f"{about}: {_estimate_text(estimate)}" + (f", {people(looked_at)}" if looked_at else "")
    if rule.people_at_least is not None and (looked_at or 0) < rule.people_at_least:
        return _check(item, asked, "not judged", f"{told}: fewer than {rule.people_at_least:,} people")
    why = rule.broken_by(estimate)
    return _check(item, asked, "broken" if why else "kept", f"{told}: {why}" if why else told)


def _check(
    item: Number, asked: str, state: Literal["kept", "broken", "not judged"], finding: str
) -> GateCheck:
    verdict = {"kept": "rule kept", "broken": "rule broken", "not judged": "not judged"}[state]
    return GateCheck(item.audit, item.place, f".{item.path} {asked}", verdict, f"{finding}.", state=state)


def _since(result: Any, found: list[Number], rule: Rule, baseline: GateBaseline) -> Iterator[GateCheck]:
    """Check how numbers changed since a baseline, corrected for how many the rule is about."""
    levels = [level_of(audit.options) for audit in result.audits]
    told = {
        place: baseline.since(result, place, level=levels[place] / len(found))
        for place in dict.fromkeys(item.place for item in found)
    }
    for item in found:
        _, change, paired = told[item.place](item)
        if change is not None and not paired and ".differences." not in item.path:
            change = _widened(change, levels[item.place], len(found))  # those of an audit hold together
        yield _check_number(item, rule, None if change is None else vars(change))


def _widened(change: Estimate, level: float, looks: int) -> Estimate:
    """Return an interval of error rate `level` as one that holds together with others, `looks` in all.

    Its ends move away as a normal's would.
    """
    if change.value is None or change.low is None or change.high is None:
        return change
    times = NormalDist().inv_cdf(level / looks / 2) / NormalDist().inv_cdf(level / 2)
    low, high = (
        change.value + times * (change.low - change.value),
        change.value + times * (change.high - change.value),
    )
    method = change.method if looks == 1 else f"{change.method}, {looks} numbers together"
    return replace(change, low=low, high=high, method=method)


def _growths(result: Any, rule: BaselineRule, baseline: GateBaseline, since: str) -> Iterator[GateCheck]:
    """Check that no difference between groups grew, corrected for how many there are."""
    bound = Rule(metric="growth", at_most=rule.slack, on=rule.on, baseline=rule.path or "compare")
    asked = bound.words().replace("changed by", "grown by")
    entries, looked_at = result.to_json()["audits"], 0
    for place, audit in enumerate(result.audits):
        gaps = list(_gaps(entries[place], place))
        told = baseline.since(result, place, level=level_of(audit.options) / max(len(gaps), 1))
        for item, gap in gaps:
            before, change, _ = told(item)
            rate = item.path.split(".")[-1].replace("_", " ")
            about = f"difference in {rate} of {item.attribute}: {item.group}, growth {since}"
            if change is None or change.value is None:
                yield _check(item, asked, "not judged", f"{about} is not in the baseline")
                continue
            looked_at += 1
            now = change.value + (before or 0.0)
            grown = vars(growth(change, before, _material_from(gap, audit.options, now)))
            why = bound.broken_by(grown).replace("its change", "the growth")
            finding = f"{about}: {_estimate_text(grown)}{f': {why}' if why else ''}"
            yield _check(item, asked, "broken" if why else "kept", finding)
    for name, place, path in baseline.gone(result.audits, entries):
        finding = f"{path} is in the baseline, and these results do not state it"
        yield _check(Number(name, place, path, "", "", {}), asked, "not judged", finding)
    if not looked_at:
        raise InputError(
            "gate.baseline", "shares no difference between groups with these results",
            rule.path or "compare",
            "write it again, or name numbers by rules with a baseline",
        )  # fmt: skip


def _material_from(gap: Mapping[str, Any], options: Mapping[str, Any], now: float) -> float:
    """Return from which size a difference is material: any, where it is `now` and is known to be.

    Its limit may be on a ratio.
    """
    stated = gap["estimate"]["value"]
    itself = stated is not None and math.isclose(stated, now, rel_tol=1e-9, abs_tol=1e-12)
    if itself and gap.get("material"):
        return 0.0
    limit = gap.get("limit")
    return float(options.get("material", MATERIAL_DIFFERENCE) if limit is None else limit)


def _gaps(entry: dict[str, Any], place: int) -> Iterator[tuple[Number, dict[str, Any]]]:
    """Yield every difference of a group from its reference, and what the row says of it."""
    for where, row in group_rows(entry):
        for rate, gap in (row.get("differences") or {}).items():
            if isinstance(gap, dict) and isinstance(gap.get("estimate"), dict):
                about = str(row.get("attribute", "")), str(row.get("group", ""))
                path = f"{where}.differences.{rate}"
                yield Number(entry["audit"], place, path, *about, gap["estimate"]), gap


_ENTRY = {"audit", "verdict", "verdict_across", "material", "finding", "interval"}


def statements(result: Any) -> list[Statement]:
    """Return the verdicts that a run states, in the order of results.json.

    Of a verdict and the same one further down the path that it rests on, only the latter.
    """
    found = []
    document = result.to_json()
    search = document.get("search")
    entries = list(enumerate(document["audits"]))
    if search is not None and search["verdict"] == EVIDENCE:
        entries.append((-1, {key: item for key, item in search.items() if key in _ENTRY}))
    for place, entry in entries:
        # nothing corrects the audits that a treatment runs before and after
        records = records_in(entry, without={"options", "also"})
        stated = [(path, item) for path, item in records if isinstance(item.get("verdict"), str)]
        outlasts = entry["verdict_across"] == entry["verdict"]
        for path, item in stated:
            verdict = item["verdict"]
            if any(_below(path, other) and inner["verdict"] == verdict for other, inner in stated):
                continue
            across = verdict if outlasts or verdict != EVIDENCE else INSUFFICIENT
            material = across == EVIDENCE and item.get("material", entry.get("material", True)) is True
            found.append(
                Statement(
                    entry["audit"], place, path, across, _finding_for(path, item, entry), material=material
                )
            )
    return found


def gate_of(spec: Mapping[str, Any], fail_on: str | Mapping[str, Any] | None) -> Gate:
    """Return the gate that `fail_on` means for a run of `spec`.

    Parameters
    ----------
    spec : mapping
        A checked spec as plain data.
    fail_on : {"evidence", "material", "gate"}, mapping or None
        No evidence at all; none of a material difference; what the spec's ``gate`` says; limits of one's
        own; or the spec's ``gate`` if it has one, else no evidence at all.

    Raises
    ------
    InputError
        If the spec has no ``gate`` to fail on, the limits are wrong, or a rule is about nothing that the
        spec's audits state.
    """
    if isinstance(fail_on, Mapping):
        return _for_spec(fail_on, spec)
    if fail_on == "evidence" or (fail_on is None and "gate" not in spec):
        return STRICT
    if fail_on == "material":
        return MATERIAL
    if fail_on not in {None, "gate"}:
        raise InputError(
            "fail_on", "must be 'evidence', 'material', 'gate' or limits such as {evidence: 0}", fail_on
        )
    if "gate" not in spec:
        raise InputError(
            "gate", "is missing in the spec", advice="add it, such as gate: {evidence: 0, insufficient: 3}"
        )
    return _for_spec(spec["gate"], spec)


def _for_spec(stated: Any, spec: Mapping[str, Any]) -> Gate:
    gate = read_gate(stated)
    check_words(gate.rules, spec)
    return gate


def _below(path: str, other: str) -> bool:
    return other.startswith((f"{path}.", f"{path}["))


def _finding_for(path: str, item: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """What a verdict rests on: the audit's finding, or the part's own number where it is about a part."""
    if not path:
        return str(entry["finding"])
    if item.get("finding"):
        return str(item["finding"])
    stated = {key: each for key, each in item.items() if isinstance(each, Mapping)}
    named = [stated[key] for key in ("estimate", "difference", "ratio") if key in stated]
    others = [each for each in stated.values() if {"value", "low"} <= each.keys()]
    estimate = next((each for each in (*named, *others) if each.get("value") is not None), None)
    if estimate is None:
        return f"{path.lstrip('.')}. The audit's finding: {entry['finding']}"
    size = f", {people(estimate['n'])}" if estimate.get("n") else ""
    return f"{path.lstrip('.')}: {_estimate_text(estimate)}{size}, {estimate['method']}"


def _estimate_text(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return "not known"
    told = number(estimate["value"])
    if estimate["low"] is None and estimate["high"] is None:
        return told
    ends = ["–" if end is None else number(end) for end in (estimate["low"], estimate["high"])]
    return f"{told} ({ends[0]} to {ends[1]})"
