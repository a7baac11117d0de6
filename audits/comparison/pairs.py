"""What an audit says of two results on the same people: which numbers moved, and how each is paired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from audits.comparison.intervals import Moved, People, apart, mean_moved, ratio_moved, share_moved
from audits.data import named_with
from audits.stats import Estimate, limit_name, limit_of
from audits.stats.design import make_design
from audits.stats.text import people_in

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["gap", "share", "number"]
"""A signed difference of two shares, 0 where groups are alike; a share; any other number."""

Side = tuple[np.ndarray, np.ndarray]
_UNPAIRED = "no paired interval is known for it"


@dataclass(frozen=True, eq=False)
class Row:
    """One number under both models.

    Attributes
    ----------
    where : str
        Its place in the audit's part of results.json.
    name : str
        What it is, in words: ``selection rate of female people``.
    first, second : Estimate
        What either model's own result states; without value where it states none.
    moved : Moved
    kind : {"gap", "share", "number"}
    judged : bool
        Whether the comparison's verdict looks at it: it is then corrected for all that are.
    material : float
        Smallest change that matters.
    limit_name : str
        What that is called where it was computed: ``"ratio of 0.8"``.
    """

    where: str
    name: str
    first: Estimate
    second: Estimate
    moved: Moved
    kind: Kind
    judged: bool = True
    material: float = 0.1
    limit_name: str = ""


@dataclass(frozen=True, eq=False)
class Pairing:
    """The numbers of an audit that are paired, and why others are not.

    Attributes
    ----------
    rows : tuple of Row
    given : str
        What the intervals take as given, a sentence; empty where they are of the people alone.
    looked_at : int
        Numbers that judged intervals are corrected for, where it is more than the rows say.
    why : mapping of str to str
        For numbers that are not paired, by how their place begins, why not; ``""`` for all others.
    """

    rows: tuple[Row, ...] = ()
    given: str = ""
    looked_at: int = 0
    why: Mapping[str, str] = field(default_factory=dict)

    def reason(self, where: str) -> str:
        """Return why the number at a place has no paired interval."""
        starts = [start for start in self.why if where.startswith(start)]
        return self.why[max(starts, key=len)] if starts else _UNPAIRED


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs an audit's numbers, one after the other, from what each person contributes to either.

    Every method takes the number's place in results.json, its words, and what both results state of it, and
    returns the change. `material` is the smallest change that matters; gaps are judged, other numbers where
    that is asked for.
    """

    people: People
    material: float
    limit_name: str = ""
    rows: list[Row] = field(default_factory=list)

    def add(
        self, where: str, name: str, both: Iterable[Estimate], moved: Moved, kind: Kind, **how: Any
    ) -> Moved:
        """Add a number whose change is known; `how`: ``judged``, ``material``, ``limit_name``."""
        limit = {} if "material" in how else {"material": self.material, "limit_name": self.limit_name}
        how = {"judged": kind == "gap", **limit, **how}
        first, second = both
        self.rows.append(Row(where, name, first, second, moved, kind, **how))
        return moved

    def share(self, where: str, name: str, both: Iterable[Estimate], *sides: Side, **how: Any) -> Moved:
        """Pair a share: with either model whom it is about (n,), and who has the property (n,)."""
        return self.add(where, name, both, share_moved(self.people, *sides), "share", **how)

    def mean(
        self, where: str, name: str, both: Iterable[Estimate], members: np.ndarray, *values: np.ndarray,
        **how: Any,
    ) -> Moved:  # fmt: skip
        """Pair the mean over `members` (n,) of what either model gives them (n,)."""
        return self.add(where, name, both, mean_moved(self.people, members, *values), "number", **how)

    def ratio(
        self, where: str, name: str, both: Iterable[Estimate], *sides: Side, kind: Kind = "number", **how: Any
    ) -> Moved:
        """Pair a ratio of sums: with either model what each row adds above and below the line (n,)."""
        return self.add(where, name, both, ratio_moved(self.people, *sides), kind, **how)

    def gap(
        self, where: str, name: str, both: Iterable[Estimate], rest: Moved, own: Moved, **how: Any
    ) -> Moved:
        """Pair a difference of two numbers whose changes are known: `own` minus `rest`."""
        return self.add(where, name, both, apart(rest, own, self.people), how.pop("kind", "gap"), **how)

    def pairing(self, **said: Any) -> Pairing:
        """Return all that was paired; `said` are the other fields of `Pairing`."""
        return Pairing(tuple(self.rows), **said)


def limit_on_rates(
    options: Mapping[str, Any], people: np.ndarray, decisions: Iterable[Any]
) -> dict[str, Any]:
    """Return the smallest change of a decision rate that matters, ``material``, and its ``limit_name``.

    Parameters
    ----------
    options : mapping
        The audit's own.
    people : array (n,)
        People that each row stands for.
    decisions : iterable of bool arrays (n,)
        By either model. Where one of them favors few, the ratio is held to the limit, too.
    """
    material, on = float(options["material"]), options.get("material_on", "difference")
    rates = [float(people @ np.asarray(side, dtype=bool) / people.sum()) for side in decisions]
    least = min(-limit_of(material, on, rate=rate, overall=rate)[0] for rate in rates)
    return {"material": least, "limit_name": limit_name(material, on, least)}


def estimates_of(both: Iterable[Any], name: str) -> tuple[Estimate, Estimate]:
    """Return what both results, or rows of them, state by that name."""
    first, second = map(attrgetter(name), both)
    return first, second


def common(first: Iterable[Any], second: Iterable[Any], *names: str) -> Iterator[tuple[Any, Any]]:
    """Yield rows of two results that are alike in the fields named, in the order of the second."""
    key = attrgetter(*names)
    then = {key(row): row for row in first}
    return ((then[key(row)], row) for row in second if key(row) in then)


def groups_of(
    first: Any, second: Any, subjects: Any, index: pd.Index
) -> Iterator[tuple[tuple[Any, Any], np.ndarray, str]]:
    """Yield the groups that both results state, the people of each (n,), and what they are called.

    None where the subjects are not at hand: a result keeps nobody's groups.
    """
    groups = None if subjects is None else subjects[1].data.groups.reindex(index)
    for rows in common(first.groups, second.groups, "attribute", "group"):
        attribute, group = rows[1].attribute, rows[1].group
        if groups is not None and attribute in groups:
            who = people_in(named_with(attribute, group))
            yield rows, (groups[attribute] == group).to_numpy(), who


def without_interval(both: tuple[Estimate, Estimate], why: str, *, alike: bool = True) -> Moved:
    """Return a change that has no interval, and why; no change where the two are not about the same."""
    first, second = both
    known = alike and first.value is not None and second.value is not None
    value = float(second.value or 0.0) - float(first.value or 0.0) if known else None
    return Moved(value, second.n, np.zeros(0), None, f"no interval: {why}")


def same_people(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Whether two tables have the same rows in the same order."""
    return len(first) > 0 and first.index.equals(second.index)


def other_people() -> Pairing:
    """Return what there is to say of results that were not measured on the same people."""
    return Pairing(why={"": "the two were not measured on the same people"})


def people_of(table: pd.DataFrame) -> People:
    """Return the people of an audit's table: each row one, as many as ``people`` says, or a design's rows."""
    sizes = table["people"].to_numpy(dtype=float) if "people" in table else np.ones(len(table))
    if "cluster" not in table:
        return People.counted(sizes)
    cluster, strata = (table[name].to_numpy() for name in ("cluster", "stratum"))
    return People.sampled(make_design(len(table), weights=sizes, cluster=cluster, strata=strata))
