"""The people selected on any page: what the address says of them, in words, and who they are.

A selection is a list of terms, all of which a person meets; the address has it as JSON. A term is

- about the data: a row filter as of ``data.keep``, or ``{"group": {attribute: value}}``;
- about a run, ``{"run": KEY, …}``: a row filter on its table of one row a person (``{"column": "flagged",
  "in": ["True"]}``), ``{"rule": number}`` of a rule set or ``{"rules": words}`` of one that has none,
  ``{"levels": {attribute: level}}`` of a combination, ``{"flow": [from, to]}`` of two subgroups,
  ``{"row": number}`` of one person.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from app import work
from app.held import DataHeld
from app.workspace import Workspace
from audits.data import group_name
from audits.data.building.filters import kept_rows
from audits.data.selecting import rule_of
from audits.data.values import text_of
from audits.errors import InputError, RunFailed
from audits.runs.keeping.saved import SavedRuns
from audits.runs.result import RunResult
from audits.stats.words import in_words, number

__all__ = ["Selection", "read_selection", "run_of"]

Term = Mapping[str, Any]
_WHERE = "the selection"
_LONGEST, _MOST_TERMS = 4000, 20
_SAID = {
    ("flipset", "positive"): "flipped (favorable here only)",
    ("flipset", "negative"): "flipped (unfavorable here only)",
    ("sensitivity", "flagged"): "flagged",
    ("recourse", "alpha", "missing"): "never accepted",
    ("recourse", "alpha"): "part of the way to be accepted",
    ("recourse", "alpha", "not_missing"): "accepted on the way",
    ("loss_ratio", "ratio"): "loss ratio",
    ("barycentre", "only_self"): "favored only as themselves",
    ("barycentre", "only_counterpart"): "favored only as their counterparts",
    ("flipset", "flips again"): "share of repeats they flip in",
}


_NAMED = {"within", "group", "subgroup", "match set"}


@dataclass(frozen=True)
class Selection:
    """People selected.

    Attributes
    ----------
    text : str
        As the address has it; empty where nobody is selected.
    terms : tuple of mapping
        What all of them meet.
    """

    text: str
    terms: tuple[Term, ...]

    def __bool__(self) -> bool:
        """Return whether anything is selected."""
        return bool(self.terms)

    @property
    def of_data(self) -> list[Term]:
        """The terms that hold in any table with these columns."""
        return [term for term in self.terms if "run" not in term]

    @property
    def of_runs(self) -> list[Term]:
        """The terms about what a run found."""
        return [term for term in self.terms if "run" in term]

    def rows(self, space: Workspace, data: DataHeld) -> tuple[pd.Index, float]:
        """Return the row numbers of the people selected, of all rows of the data, and how many they are.

        Raises
        ------
        InputError
            If the data lack what a term names, or a run is not kept any more.
        """
        return data.selected(self.of_data, self.rows_of_runs(space))

    def rows_of_runs(self, space: Workspace) -> pd.Index | None:
        """Return the rows that meet all terms about runs; None where there is none."""
        found: pd.Index | None = None
        for term in self.of_runs:
            own = _rows_of_run(run_of(space, str(term["run"])), term)
            found = own if found is None else found.intersection(own)
        return found

    def words(self, run_of: Callable[[str], RunResult]) -> str:
        """Return the selection in words: ``PAY_0 = 2, flipped (favorable here only)``.

        `run_of` finds a run by the beginning of its key, as `run_of` does.
        """
        said: list[str] = []
        for column, terms in _by_column(self.of_data):
            said.append(_range_words(column, terms) if column else group_name(terms[0]["group"]))
        by_run: dict[str, list[Term]] = {}
        for term in self.of_runs:
            by_run.setdefault(str(term["run"]), []).append(term)
        for run, terms in by_run.items():
            said += _run_words(run_of(run), terms)
        return in_words(", ".join(dict.fromkeys(said)))


def read_selection(text: str) -> Selection:
    """Read what an address says.

    Raises
    ------
    InputError
        If it is no selection.
    """
    if not text:
        return Selection("", ())
    try:
        terms = json.loads(text) if len(text) <= _LONGEST else None
    except ValueError:
        terms = None
    if not isinstance(terms, list) or not 0 < len(terms) <= _MOST_TERMS:
        raise InputError(_WHERE, "of the link cannot be read", advice="select people again")
    return Selection(text, tuple(_checked(term) for term in terms))


def _checked(term: Any) -> Term:
    """Return a term of one of the shapes above, with nothing else in it."""
    plain = {key: value for key, value in term.items() if key != "run"} if isinstance(term, dict) else {}
    if "column" in plain:
        rule_of(plain)
        fits = True
    elif "group" in plain:
        values = plain["group"].values() if isinstance(plain["group"], dict) else ()
        fits = bool(values) and all(isinstance(value, str) for value in values) and "run" not in term
    else:
        fits = "run" in term and _is_special(plain)
    if not fits or not isinstance(term.get("run", ""), str) or ("column" not in plain and len(plain) != 1):
        raise InputError(_WHERE, "of the link cannot be read", advice="select people again")
    return dict(term)


def _is_special(term: Term) -> bool:
    """Whether this is a term about a run that is no row filter."""
    flow, levels = term.get("flow"), term.get("levels")
    return (
        any(type(term.get(key)) is int for key in ("rule", "row"))
        or isinstance(term.get("rules"), str)
        or (
            isinstance(levels, dict)
            and bool(levels)
            and all(isinstance(each, str) for each in levels.values())
        )
        or (isinstance(flow, list) and len(flow) == 2 and all(isinstance(name, str) for name in flow))
    )


def run_of(space: Workspace, key: str) -> RunResult:
    """Return the finished run of this workspace whose key begins so.

    Raises
    ------
    InputError
        If it is not kept any more.
    """
    kept = [record for record in space.runs() if str(record["key"]).startswith(key)]
    specs = [record["spec"] for record in kept]
    if not specs:
        specs = [run.spec for run in SavedRuns().list(owner=space.token) if run.key.startswith(key)]
    try:
        return work.result(space, specs[0])
    except (IndexError, RunFailed):
        raise InputError(
            _WHERE, "is of an audit that is not kept any more", advice="select people again"
        ) from None


def _rows_of_run(found: RunResult, term: Term) -> pd.Index:
    result: Any = found.audits[0].result
    if "rule" in term:
        return _with_rule(result, term["rule"])
    if "flow" in term:
        return _of_flow(result, term["flow"])
    if "rules" in term:
        return _with_words(result, term["rules"])
    if "levels" in term:
        return _at_levels(result, term["levels"])
    people = _with_made(result.people)
    if "row" in term:
        return people.index[people.index == term["row"]]
    rule = rule_of({key: value for key, value in term.items() if key != "run"})
    return people.index[kept_rows(people, [rule], where=_WHERE)[0]]


def _with_made(people: pd.DataFrame) -> pd.DataFrame:
    """Return the table of people with the columns that figures make of others."""
    made: dict[str, Any] = {}
    if "times" in people:
        made["flips again"] = people["flips_again"] / people["times"].where(people["times"] > 0)
    for name in ("twin_decision", "counterfactual_decision"):
        if name in people:
            otherwise = people["decision"] != people[name]
            made["match set"] = otherwise.map({True: "decided otherwise", False: "decided alike"})
    return people.assign(**made)


def _with_words(result: Any, words: str) -> pd.Index:
    """Return the people of a rule set that need not be in the table of frequent ones, by its words."""
    from app.rule_sets.by_words import members_by_words

    inside = members_by_words(result, words)
    if inside is None:
        raise InputError(_WHERE, "is of a rule set that this audit did not find", words)
    return result.people.index[inside]


def _at_levels(result: Any, levels: Mapping[str, str]) -> pd.Index:
    """Return the people at these levels of the attributes that rule sets are about."""
    names = {item["name"]: place for place, item in enumerate(result.attributes)}
    inside = pd.Series(True, index=result.cells.index)
    for name, level in levels.items():
        known = list(map(str, result.attributes[names[name]]["levels"])) if name in names else []
        if level not in known:
            raise InputError(_WHERE, "is of a group that this audit did not look at", f"{name} {level}")
        inside &= result.cells[f"level {names[name]}"] == known.index(level)
    return result.people.index[inside.to_numpy()[result.people["cell"].to_numpy()]]


def _with_rule(result: Any, rule: int) -> pd.Index:
    from audits.rule_sets import members

    if rule not in result.rule_sets.index:
        raise InputError(_WHERE, "is of a rule set that this audit did not find", rule)
    return result.people.index[members(result, rule)]


def _of_flow(result: Any, flow: Sequence[str]) -> pd.Index:
    source, target = flow
    if source not in result.flows.rows or target not in result.flows.columns:
        raise InputError(_WHERE, "is of a flow that this audit did not find", f"{source} → {target}")
    return result.cell(source, target).index


def _run_words(found: RunResult, terms: Sequence[Term]) -> list[str]:
    audit, said = found.audits[0].name, []
    special: dict[str, Callable[[Any], str]] = {
        "rule": lambda term: _rule_words(found, term["rule"]),
        "rules": lambda term: str(term["rules"]),
        "levels": lambda term: group_name(term["levels"]),
        "row": lambda term: f"row {term['row']}",
        "flow": lambda term: " → ".join(term["flow"]),
    }
    for column, own in _by_column([term for term in terms if not set(special) & set(term)]):
        whole = _SAID.get((audit, column, *(["missing"] if "missing" in own[0] else [])))
        if (audit, column) == ("recourse", "alpha") and set(own[0]) - {"run"} == {"column", "at_most"}:
            said.append(f"accepted within {100 * own[0]['at_most']:g} % of the way")
            continue
        flag = len(own) == 1 and (own[0].get("in") == ["True"] or own[0].get("above") == 0)
        alone = whole is not None and (flag or "missing" in own[0])
        if column in _NAMED:  # a stratum or a group says what it is
            said += [str(value) for term in own for value in term.get("in", ())]
            continue
        if "not_missing" in own[0]:  # everybody whom the run looks at
            said.append(str(getattr(found.audits[0].result, "source", "in the audit")))
            continue
        said.append(str(whole) if alone else _range_words(whole or column.replace("_", " "), own))
    said += [words(term) for key, words in special.items() for term in terms if key in term]
    return said


def _rule_words(found: RunResult, rule: int) -> str:
    from audits.rule_sets import row_of

    result: Any = found.audits[0].result
    _with_rule(result, rule)
    return str(row_of(result, rule).rule_set)


def _by_column(terms: Sequence[Term]) -> list[tuple[str, list[Term]]]:
    """Return the terms of each column together; those of a group one by one, under no column."""
    columns: dict[str, list[Term]] = {}
    groups: list[tuple[str, list[Term]]] = []
    for term in terms:
        if "column" in term:
            columns.setdefault(term["column"], []).append(term)
        else:
            groups.append(("", [term]))
    return [*columns.items(), *groups]


_RELATIONS = {
    "at_least": "at least",
    "at_most": "at most",
    "above": "above",
    "below": "below",
}


def _range_words(column: str, terms: Sequence[Term]) -> str:
    """Return conditions on one column in words.

    Examples
    --------
    >>> _range_words("age", [{"at_least": 25}, {"below": 35}]), _range_words("job", [{"in": ["a", "b"]}])
    ('age from 25 to below 35', 'job = a or b')
    >>> _range_words("age", [{"between": [25, 29]}]), _range_words("age", [{"missing": True}])
    ('age 25 to 29', 'age (missing)')
    """
    said = []
    ends = {key: term[key] for term in terms for key in _RELATIONS if key in term}
    if list(ends) == ["at_least", "below"] and len(terms) == 2:
        return f"{column} from {_value(ends['at_least'])} to below {_value(ends['below'])}"
    for term in terms:
        if "in" in term or "not_in" in term:
            values = " or ".join(map(text_of, term["in" if "in" in term else "not_in"]))
            said.append(f"{'=' if 'in' in term else 'not'} {values}")
        elif "between" in term:
            said.append(" to ".join(map(_value, term["between"])))
        elif "missing" in term or "not_missing" in term:
            said.append("(missing)" if "missing" in term else "known")
        else:
            said += [f"{words} {_value(term[key])}" for key, words in _RELATIONS.items() if key in term]
    return f"{column} {' and '.join(said)}"


def _value(value: Any) -> str:
    whole = not isinstance(value, float) or value.is_integer()
    return text_of(value) if whole else number(value)
