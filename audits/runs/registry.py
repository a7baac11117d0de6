"""The audits that a spec can name: ours, and those that installed packages add.

A package adds one by an entry point of the group ``evenhand.audits``: its name is the audit's, what it points
to the audit's `audits.records.Audit`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from audits.aliases import normalize_word
from audits.errors import InputError
from audits.plugins import load_plugin
from audits.records import Audit

if TYPE_CHECKING:
    from audits.data import AuditData

GROUP = "evenhand.audits"

_OURS = (
    "groups",
    "flipset",
    "explain",
    "barycenter",
    "outcome_transport",
    "recourse",
    "rule_sets",
    "mitigation",
    "loss_ratio",
    "attribute_swap",
    "sensitivity",
)
"""In the order of pages and lists; each is the package that holds its record."""
_FORMER = {"barycentre": "barycenter"}
"""Names in specs and saved runs of earlier versions."""


class Registry(Mapping[str, Audit]):
    """Records by name, each loaded when it is first asked for; ours first, then those of other packages."""

    def __init__(self) -> None:
        self._added: dict[str, Audit] = {}

    def __getitem__(self, name: str) -> Audit:
        name = self.now(name)
        if name in self._added:
            return self._added[name]
        if name in _OURS:
            audit: Audit = importlib.import_module(f"audits.{name}.record").AUDIT
            return audit
        return _plugin_record(_entries()[name])

    def __iter__(self) -> Iterator[str]:
        yield from _OURS
        yield from (name for name in {**_entries(), **self._added} if name not in _OURS)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in _OURS or name in _FORMER or name in self._added or name in _entries()

    def now(self, name: str) -> str:
        """Return the present name of an audit, which specs and saved runs may call by an earlier one.

        Examples
        --------
        >>> AUDITS.now("barycenter"), AUDITS.now("groups")
        ('barycenter', 'groups')
        """
        return _FORMER.get(name, name)

    def first_name(self, name: str) -> str:
        """Return what an audit was called first: a new name changes none of its random draws."""
        return next((first for first, now in _FORMER.items() if now == name), name)

    def add(self, audit: Audit) -> None:
        """Have this process know one more audit, or another one of a known name."""
        self._added[audit.name] = audit

    def remove(self, name: str) -> None:
        """Forget an audit that `add` added."""
        del self._added[name]

    @property
    def ours(self) -> tuple[str, ...]:
        """The names of our own, in the order of pages and lists."""
        return _OURS

    def brought(self, name: str) -> bool:
        """Whether the audit comes from another package."""
        return self.now(name) not in _OURS

    @property
    def first(self) -> str:
        """The audit before all others, how the groups compare at all: its page is the overview."""
        return _OURS[0]

    @property
    def treating(self) -> Audit:
        """The audit that leaves a better model behind: a comparison's second one."""
        return next(self.having("treats"))

    def having(self, what: str) -> Iterator[Audit]:
        """Yield the records that state `what`, a field of theirs, in the order of pages and lists."""
        for name in self:
            with suppress(InputError):  # as below
                if getattr(self[name], what):
                    yield self[name]

    def meant(self, word: object) -> str | None:
        """Return the audit that others call so; None where none is.

        Examples
        --------
        >>> AUDITS.meant("equalized_odds"), AUDITS.meant("FlipTest"), AUDITS.meant("banana")
        ('groups', 'flipset', None)
        """
        called = normalize_word(word)
        for name in self:
            with suppress(InputError):  # a package that cannot be loaded says so to who names its audit
                if called in map(normalize_word, self[name].also_called.split()):
                    return name
        return None


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


@cache
def _plugin_record(entry: EntryPoint) -> Audit:
    """Return the record that another package brings.

    Raises
    ------
    InputError
        If it cannot be loaded, is no record, or has another name.
    """
    found = load_plugin(entry, Audit)
    if found.name != entry.name:
        raise InputError(f"audit {found.name!r}", "must be an entry point of its own name", entry.name)
    return found


AUDITS = Registry()


def usual_audits(data: AuditData, *, words: bool = False, anew: bool = True) -> dict[str, dict[str, Any]]:
    """Return every audit that needs no choice on these data, by name, with its options.

    Parameters
    ----------
    words : bool
        Whether the model is one of words: most audits compare people by numbers and categories.
    again : bool
        Whether the model can score people whom nobody in the data is.
    """
    found = {}
    for name, audit in AUDITS.items():
        if (words and not audit.about_words) or (audit.asks_anew and not anew):
            continue
        if data.numeric is not None and not audit.numeric:
            continue
        options = audit.usual_options(data)
        if options is not None:
            found[name] = options
    return found


def usual_others(data: AuditData, trained: str | None) -> dict[str, dict[str, Any]]:
    """Return every audit that needs no choice on these data, but those that another one states itself.

    What needs a package that is not installed is left out, too.
    """
    usual = usual_audits(data, words=trained == "text")
    stated = {name for audit in AUDITS.having("states") for name in (audit.name, *audit.states)}
    return {
        name: options for name, options in usual.items() if name not in stated and AUDITS[name].lacks is None
    }
