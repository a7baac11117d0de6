"""The people selected on any page: what the address says of them, in words, and who they are.

A selection is a list of terms, all of which a person meets; the address has it as JSON. A term is

- about the data: a row filter as of ``data.keep``, or ``{"group": {attribute: value}}``;
- about a run, ``{"run": KEY, …}``: a row filter on its table of one row a person (``{"column": "flagged",
  "in": ["True"]}``), ``{"row": number}`` of one person, or one that only that audit knows, by the module
  ``app/<audit>/selection_rules.py``: ``{"flow": [from, to]}`` of two subgroups.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd

from app import jobs
from app.registry import own_module
from app.tables.handles import DataHandle
from app.workspaces.workspace import Workspace
from audits.data import group_name
from audits.data.preprocessing.filters import kept_rows
from audits.data.selection import rule_of
from audits.data.values import text_of
from audits.errors import InputError, RunFailed
from audits.runs.registry import AUDITS
from audits.runs.result import AuditResult, RunResult
from audits.runs.storage.saved import SavedRuns
from audits.stats.text import in_words
from audits.text import value_words

Term = Mapping[str, Any]
WHERE = "the selection"
"""What refusals name."""

_MAX, _MAX_TERMS = 4000, 20
_NAMED = {"within", "group", "subgroup", "match set"}


@dataclass(frozen=True, eq=False)
class Kind:
    """A term about a run that only its audit knows.

    Attributes
    ----------
    reads : callable
        Whether a value is one that the term may have.
    people, words : callable
        ``people(result, value)`` returns the rows of those meant, ``words(result, value)`` what is said of
        them.
    """

    reads: Callable[[Any], bool]
    people: Callable[[Any, Any], pd.Index]
    words: Callable[[Any, Any], str]


@dataclass(frozen=True, eq=False)
class SelectionRules:
    """What only one audit's pages know to select people by, as ``OWN`` of ``app/<audit>/selection_rules.py``.

    Attributes
    ----------
    kinds : mapping
        Terms by their key.
    with_made : callable
        Returns the table of people with the columns that figures make of others.
    """

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    with_made: Callable[[pd.DataFrame], pd.DataFrame] = lambda people: people


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

    def rows(self, space: Workspace, data: DataHandle) -> tuple[pd.Index, float]:
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
        terms = json.loads(text) if len(text) <= _MAX else None
    except ValueError:
        terms = None
    if not isinstance(terms, list) or not 0 < len(terms) <= _MAX_TERMS:
        raise InputError(WHERE, "of the link cannot be read", advice="select people again")
    return Selection(text, tuple(_check_term(term) for term in terms))


def _check_term(term: Any) -> Term:
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
        raise InputError(WHERE, "of the link cannot be read", advice="select people again")
    return dict(term)


def _is_special(term: Term) -> bool:
    """Whether this is a term about a run that is no row filter."""
    if len(term) != 1:
        return False
    [(key, value)] = term.items()
    if key == "row":
        return type(value) is int
    kinds = [own.kinds[key] for own in map(_own, AUDITS.ours) if key in own.kinds]
    return any(kind.reads(value) for kind in kinds)


def _own(audit: str) -> SelectionRules:
    """Return what only the pages of an audit of ours know to select people by."""
    selecting = own_module(audit, "selection_rules")
    return SelectionRules() if selecting is None else selecting.OWN


def run_of(space: Workspace, key: str) -> RunResult:
    """Return the finished run of this workspace whose key begins so.

    Raises
    ------
    InputError
        If it is not kept any more, or its rows are those of another table.
    """
    draft = space.draft()
    kept = [record for record in space.runs() if str(record["key"]).startswith(key)]
    specs = [record["spec"] for record in kept]
    if not specs:
        specs = [run.spec for run in SavedRuns().list(owner=space.token) if run.key.startswith(key)]
    try:
        tables = [spec["data"] for spec in (specs[0], specs[0] if draft is None else draft["spec"])]
        if any(tables[0].get(name) != tables[1].get(name) for name in jobs.READING):
            raise InputError(WHERE, "is of people in another table", advice="select people again")
        return jobs.result(space, specs[0])
    except (IndexError, RunFailed):
        raise InputError(
            WHERE, "is of an audit that is no longer saved", advice="select people again"
        ) from None


def _rows_of_run(found: RunResult, term: Term) -> pd.Index:
    audit = found.audits[0]
    own, result = _own(audit.name), audit.result
    for key in term:
        if key in own.kinds:
            return own.kinds[key].people(result, term[key])
    people = own.with_made(result.people)
    if "row" in term:
        return people.index[people.index == term["row"]]
    rule = rule_of({key: value for key, value in term.items() if key != "run"})
    return people.index[kept_rows(people, [rule], where=WHERE)[0]]


def _run_words(found: RunResult, terms: Sequence[Term]) -> list[str]:
    audit, said = found.audits[0], list[str]()
    special: dict[str, Callable[[Any], str]] = {
        **{key: partial(kind.words, audit.result) for key, kind in _own(audit.name).kinds.items()},
        "row": lambda value: f"row {value}",
    }
    for column, own in _by_column([term for term in terms if not set(special) & set(term)]):
        said += _column_words(audit, column, own)
    said += [words(term[key]) for key, words in special.items() for term in terms if key in term]
    return said


def _column_words(audit: AuditResult, column: str, own: Sequence[Term]) -> list[str]:
    """Return conditions on one column of a run's people in words, those of its audit's record first."""
    phrases = AUDITS[audit.name].pages.selected
    part = phrases.get(f"{column} at_most")
    if part is not None and set(own[0]) - {"run"} == {"column", "at_most"}:
        return [part.format(percent=100 * own[0]["at_most"])]
    whole = phrases.get(f"{column} missing" if "missing" in own[0] else column)
    flag = len(own) == 1 and (own[0].get("in") == ["True"] or own[0].get("above") == 0)
    if column in _NAMED:  # a stratum or a group says what it is
        return [str(value) for term in own for value in term.get("in", ())]
    if "not_missing" in own[0]:  # everyone whom the run looks at
        return [str(getattr(audit.result, "source", "in the audit"))]
    alone = whole is not None and (flag or "missing" in own[0])
    name = whole or column.removeprefix("group: ").replace("_", " ")
    return [str(whole) if alone else _range_words(name, own)]


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
    return value_words(value) if isinstance(value, int | float) else text_of(value)
