"""Rules of a gate: what a number of the results must be, or how far it may have moved from a baseline."""

from __future__ import annotations

import dataclasses
import difflib
import re
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from audits.aliases import metric_name
from audits.checks import Strict, one_of
from audits.errors import InputError
from audits.groups.metrics import METRICS
from audits.runs.gates.places import parts_of, records_in
from audits.runs.registry import AUDITS
from audits.stats import exceeds
from audits.stats.text import number

On = Literal["value", "lower", "upper"]
_ENDS: dict[On, str] = {"value": "value", "lower": "low", "upper": "high"}
_WORDS: dict[On, str] = {"value": "it", "lower": "its lower end", "upper": "its upper end"}
_SETTINGS = {"options", "calibration", "rows"}
"""Parts of a result that hold no finding."""


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError("must be a day, such as 2027-01-31") from None


@dataclass(frozen=True, kw_only=True)
class Rule(Strict):
    """What a number must be: ``{metric: impact_ratio, by: sex, at_least: 0.8, on: lower}``.

    Attributes
    ----------
    metric : str
        Name of a number as in results.json (impact_ratio), with its parent in front if needed
        (differences.selection_rate, positive.share). The rule applies to every number of that name.
    audit : str
        Only of this audit.
    by : str
        Only of this protected attribute; several are joined by " × ".
    group : str
        Only of this group.
    at_least, at_most : float
        Bounds; one of them must be given.
    on : {"value", "lower", "upper"}
        What must stay within the bounds: the number itself, or one end of its interval. at_least on lower
        asks for proof; at_least on upper stops only what the data rule out.
    baseline : str
        File of `evenhand baseline`: the bounds are then for the change since, now minus then.
    people_at_least : int
        Numbers about fewer people are not judged.
    """

    metric: Annotated[str, Field(min_length=1)]
    audit: str | None = None
    by: str | None = None
    group: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    on: On = "value"
    baseline: str | None = None
    people_at_least: Annotated[int, Field(ge=1)] | None = None

    def check(self, where: str) -> None:
        """Refuse a rule without a bound.

        Raises
        ------
        InputError
            If it has none, or bounds that nothing can keep.
        """
        if self.at_least is None and self.at_most is None:
            raise InputError(where, "must have at_least or at_most", advice="add one, such as at_least: 0.8")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise InputError(f"{where}.at_least", "must not be above at_most", self.at_least)

    def words(self) -> str:
        """What it asks for: ``at least 0.8 on lower``."""
        bounds = [("at least", self.at_least), ("at most", self.at_most)]
        told = " and ".join(f"{name} {bound:g}" for name, bound in bounds if bound is not None)
        change = "changed by " if self.baseline else ""
        return f"{change}{told}{'' if self.on == 'value' else f' on {self.on}'}"

    def broken_by(self, estimate: Mapping[str, Any]) -> str:
        """Return which bound the estimate breaks, in words; empty where it keeps the rule."""
        end = estimate[_ENDS[self.on]]
        what = "its change" if self.baseline else _WORDS[self.on]
        if self.baseline and self.on != "value":
            what = f"the {self.on} end of its change"
        if end is None:
            return f"{what} is not known"
        said = number(end) if what == _WORDS["value"] else f"{what}, {number(end)},"
        if self.at_least is not None and exceeds(self.at_least, end):
            return f"{said} is below {self.at_least:g}"
        if self.at_most is not None and exceeds(end, self.at_most):
            return f"{said} is above {self.at_most:g}"
        return ""


@dataclass(frozen=True, kw_only=True)
class BaselineRule(Strict):
    """No difference between groups that verdicts look at may have grown since a baseline.

    Attributes
    ----------
    path : str, optional
        File of `evenhand baseline`, relative to the spec. Left out in a run with compare: from the first
        model to the second.
    slack : float
        By how much a difference may have grown; in the unit of a numeric outcome.
    on : {"value", "lower", "upper"}
        What must not exceed the slack: the growth itself, or an end of its interval. lower stops only what
        the data say has grown, upper asks for proof that it has not.
    """

    path: Annotated[str, Field(min_length=1)] | None = None
    slack: Annotated[float, Field(ge=0)] = 0.0
    on: On = "lower"


@dataclass(frozen=True, kw_only=True)
class Waiver(Strict):
    """What a gate lets pass for a while, and why.

    Attributes
    ----------
    what : str
        Name as the gate prints it, or its beginning; * stands for anything.
    reason : str
        Why it may pass.
    until : str
        Last day on which it may: 2027-01-31.
    """

    what: Annotated[str, Field(min_length=1)]
    reason: Annotated[str, Field(min_length=3)]
    until: Annotated[str, AfterValidator(_day)]

    def covers(self, name: str) -> bool:
        """Whether it is about what the gate calls `name`."""
        pattern = ".*".join(re.escape(part) for part in self.what.split("*"))
        return re.match(rf"{pattern}(?:$|[.\[ ])", name) is not None


@dataclass(frozen=True)
class Number:
    """A number of the results that a rule is about: where it stands, its group, its estimate."""

    audit: str
    place: int
    path: str
    attribute: str
    group: str
    estimate: Mapping[str, Any]


def numbers(entries: list[dict[str, Any]], rule: Rule, where: str) -> list[Number]:
    """Return every number in the audits of results.json that `rule` is about.

    Raises
    ------
    InputError
        If there is none: suggests the nearest names.
    """
    found = []
    for place, entry in enumerate(entries):
        if rule.audit is not None and AUDITS.now(rule.audit) != entry["audit"]:
            continue
        mine = [
            each
            for each in _estimates_named(entry, rule.metric.split("."), "", "", "")
            if rule.by in (None, each[1]) and rule.group in (None, each[2])
        ]
        parts, whole = ([each for each in mine if ("[" in each[0]) is part] for part in (True, False))
        # a headline that repeats one of its parts stands for all of them; else they are parts of the whole
        repeats = {each[3]["value"] for each in whole} & {each[3]["value"] for each in parts}
        told = parts if repeats or not whole else whole
        found += [Number(entry["audit"], place, *each) for each in told]
    if not found:
        raise _nothing(entries, rule, where)
    return found


def _nothing(entries: list[dict[str, Any]], rule: Rule, where: str) -> InputError:
    """Return the refusal of a rule that is about no number: the first of its words that nothing has."""
    if rule.audit is not None:
        one_of(
            f"{where}.audit",
            AUDITS.now(rule.audit),
            [each["audit"] for each in entries],
            what="an audit that ran",
        )
        entries = [each for each in entries if each["audit"] == AUDITS.now(rule.audit)]
    named = [
        each for entry in entries for each in _estimates_named(entry, rule.metric.split("."), "", "", "")
    ]
    if not named:
        known = {name for entry in entries for name in _known(entry)}
        near = difflib.get_close_matches(rule.metric, known, n=3, cutoff=0.4) or sorted(known)[:8]
        advice = _meant(rule.metric, known) or f"there are {', '.join(near)}"
        return InputError(f"{where}.metric", "must name a number in these results", rule.metric, advice)
    attributes = dict.fromkeys(attribute for _, attribute, _, _ in named if attribute)
    if rule.by is not None and rule.by not in attributes:
        one_of(f"{where}.by", rule.by, attributes, what=f"an attribute that {rule.metric} is stated of")
    groups = dict.fromkeys(group for _, attribute, group, _ in named if rule.by in (None, attribute))
    one_of(f"{where}.group", rule.group, groups, what=f"a group that {rule.metric} is stated of")
    raise AssertionError(rule)  # each of its words was found, and so was a number


def check_words(rules: Iterable[Rule], spec: Mapping[str, Any]) -> None:
    """Raise for a rule whose audit, attribute or metric is misspelled, before a run of `spec` begins.

    A word that is like none here is left to the results, where an audit or package may state it.

    Raises
    ------
    InputError
        Names the word and the one that was likely meant.
    """
    asked, data = spec.get("audits"), spec.get("data")
    if not isinstance(asked, (list, Mapping)) or not all(isinstance(each, (str, Mapping)) for each in asked):
        return  # what is no spec is refused as such
    audits = [AUDITS.now(name) for each in asked for name in ([each] if isinstance(each, str) else each)]
    protected = data.get("protected") if isinstance(data, Mapping) else None
    attributes = [str(each) for each in (protected if isinstance(protected, (list, tuple)) else [protected])]
    known = metric_names(name for name in audits if name in AUDITS)
    for place, rule in enumerate(rules):
        if rule.audit is not None:
            one_of(f"gate.rules[{place}].audit", AUDITS.now(rule.audit), audits, what="an audit of the spec")
        by = rule.by or ""
        stated = by in attributes or " × " in by or by in repr(asked)
        if not stated and (near := difflib.get_close_matches(by, attributes, n=1)):
            rule_of = "must be a protected attribute"
            raise InputError(f"gate.rules[{place}].by", rule_of, by, f"did you mean {near[0]!r}")
        name = rule.metric.split(".")[-1]
        stated = name in known or name in repr(asked)  # a custom metric
        if not stated and (meant := _meant(rule.metric, known)):
            raise InputError(
                f"gate.rules[{place}].metric", "must name a number of the results", rule.metric, meant
            )


def _meant(metric: str, known: Iterable[str]) -> str:
    """Return the name to write for another library's, or a misspelled one; empty if it is like none."""
    ours = metric_name(metric)
    if ours is not None:
        return f"write metric: {ours}"
    near = difflib.get_close_matches(metric, sorted(known), n=1, cutoff=0.8)
    return f"did you mean {near[0]!r}" if near else ""


def metric_names(audits: Iterable[str]) -> set[str]:
    """Return the names that results of these audits hold, as a rule's metric has them."""
    found = {each.name for each in METRICS}
    for name in audits:
        found |= set(_fields(AUDITS[name].result_type))
        for _, schema in records_in(AUDITS[name].result_keys()):
            found |= set(schema.get("properties", ()))
    return found - {"value", "low", "high", "n", "method"}


def _fields(kind: Any, seen: tuple[Any, ...] = ()) -> Iterator[str]:
    """Yield the names of the fields of a dataclass and of those that it holds."""
    for inside in typing.get_args(kind):
        yield from _fields(inside, seen)
    if dataclasses.is_dataclass(kind) and kind not in seen:
        for name, each in typing.get_type_hints(kind).items():
            yield name
            yield from _fields(each, (*seen, kind))


Found = tuple[str, str, str, Mapping[str, Any]]


def _estimates_named(value: Any, metric: list[str], path: str, attribute: str, group: str) -> Iterator[Found]:
    """Yield path, attribute, group and estimate of everything below `value` that is called `metric`."""
    if isinstance(value, dict):
        attribute, group = str(value.get("attribute", attribute)), str(value.get("group", group))
        item: Any = value
        for key in metric:
            item = item.get(key) if isinstance(item, dict) else None
            if item is None:
                break
        estimate = _estimate(item)
        if estimate is not None:
            yield f"{path}.{'.'.join(metric)}".lstrip("."), attribute, group, estimate
            if "[" in path:  # what is called so further down in the same row is about this number
                return
    for where, inner in parts_of(value, path, without=_SETTINGS):
        yield from _estimates_named(inner, metric, where, attribute, group)


def _estimate(item: Any) -> Mapping[str, Any] | None:
    """Return an estimate, one that a record holds, or a plain number as one without an interval."""
    if isinstance(item, dict):
        if {"value", "low", "high"} <= item.keys():
            return item
        return _estimate(item["estimate"]) if isinstance(item.get("estimate"), dict) else None
    if isinstance(item, (int, float)) and not isinstance(item, bool):
        return {"value": item, "low": None, "high": None, "n": None, "method": ""}
    return None


def _known(entry: dict[str, Any]) -> Iterator[str]:
    """Yield the name of every number that has an interval."""
    for _, record in records_in(entry):
        for key, item in record.items():
            if isinstance(item, dict) and _estimate(item) is not None:
                yield f"differences.{key}" if "estimate" in item else key
