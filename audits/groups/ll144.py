"""Selection and scoring rates with impact ratios by sex, race/ethnicity and their intersections.

The tables that New York City's Local Law 144 of 2021 asks of a bias audit of an automated employment
decision tool, as its rules define them (6 RCNY § 5-300 and § 5-301): the *selection rate* of a category is
the share of its people decided favorably; its *scoring rate* the share with a score above the median of
all scores; the *impact ratio* a category's rate divided by the highest category's. An auditor may leave
categories under 2% of the data out of the impact ratios, with their numbers and rates still shown (§ 5-301
(d)): they are left out here unless ``exclude_under`` says otherwise. People of unknown category are counted
(§ 5-301 (b) (5), (c) (5)); they belong to the full sample whose median is taken (§ 5-301 (c) (1)), and to
the whole that 2% is taken of, on which the rules are silent. The intervals are ours: the rules ask for
none. Those of a table's impact ratios hold together, whichever of its categories truly has the highest
rate. Where rows are not one independent person each, they hold for as many people as would tell as much.

An aid, not legal advice: whether the data are those that the rules require is for the auditor to judge.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.checks import one_of
from audits.errors import InputError
from audits.groups.metrics import share_by_design
from audits.groups.people import design_of, joined_names, protected_names
from audits.groups.result import GroupsResult
from audits.report_kinds import SMALL_SHARE
from audits.stats import Estimate, wilson
from audits.stats.estimate import estimate_cells
from audits.stats.ratios import ratios_to_highest
from audits.stats.text import people

_SEX = re.compile(r"(?<![a-z])(sex|gender)", re.IGNORECASE)
_RACE = re.compile(r"(?<![a-z])(race|ethnic)", re.IGNORECASE)
_UNKNOWN = {
    "",
    "(missing)",
    "unknown",
    "not disclosed",
    "undisclosed",
    "not specified",
    "declined",
    "prefer not to say",
    "n/a",
    "na",
}


@dataclass(frozen=True, eq=False)
class BiasTable:
    """One table: a row a category, largest first.

    Attributes
    ----------
    attributes : tuple of str
        One attribute, or the two that intersect.
    unknown : float
        People whose category (or one of the two) is not known; in no row.
    median : float
        Score that half of all people, those of unknown category included, do not exceed.
    left_out : int
        How many of its categories were left out of the impact ratios.
    rows : DataFrame
        ``category``, ``people``, ``selected``, ``selection rate`` and ``impact ratio`` with ends, ``scored
        above median``, ``scoring rate`` and ``scoring impact ratio`` with ends, ``under 2%``.
    """

    attributes: tuple[str, ...]
    unknown: float
    median: float
    left_out: int
    rows: pd.DataFrame

    def __repr__(self) -> str:
        return f"<BiasTable by {' and '.join(self.attributes)}: {len(self.rows)} categories, {self._note()}>"

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        name = html.escape(" and ".join(self.attributes))
        cells = self.rows.to_html(index=False, border=0, float_format="{:.3g}".format, na_rep="–")
        return f"<div><p><b>By {name}</b>, {self._note()}.</p>{cells}</div>"

    def _note(self) -> str:
        return f"{people(self.unknown)} of unknown category"


def bias_tables(
    result: GroupsResult,
    *,
    sex: str | None = None,
    race: str | None = None,
    exclude_under: float = SMALL_SHARE,
) -> tuple[BiasTable, ...]:
    """Return the tables for sex, race/ethnicity and both together, as far as the data have them.

    Parameters
    ----------
    result : GroupsResult
        Its people's table is what is counted.
    sex, race : str, optional
        Protected attributes that hold them; by default the first whose names say so.
    exclude_under : float
        Share of all people below which a category has no impact ratio and sets no highest rate; 0 leaves none
        out.

    Raises
    ------
    InputError
        If one of them is not a protected attribute, both are the same, or the share is not one.
    """
    if not 0 <= exclude_under < 1:
        where = "the share under which categories are left out"
        raise InputError(where, "must lie from 0 to below 1", exclude_under)
    names = protected_names(result.people)
    for where, given in (("sex", sex), ("race", race)):
        if given is not None:
            one_of(where, given, names, what="a protected attribute of the run")
    if sex is not None and sex == race:
        raise InputError("race", "must be another attribute than sex", race)
    chosen = suggested_columns(result)
    chosen = (
        sex or (None if chosen[0] == race else chosen[0]),
        race or (None if chosen[1] == sex else chosen[1]),
    )
    single = [(name,) for name in chosen if name is not None]
    both = [tuple(name for (name,) in single)] if len(single) == 2 else []
    level = float(result.options["level"])
    return tuple(_table(result.people, attributes, level, exclude_under) for attributes in [*single, *both])


def suggested_columns(result: GroupsResult) -> tuple[str | None, str | None]:
    """Return the attributes whose names say sex and race or ethnicity."""
    names = protected_names(result.people)
    sex, race = (next((name for name in names if pattern.search(name)), None) for pattern in (_SEX, _RACE))
    return sex, race


def _table(
    people: pd.DataFrame, attributes: tuple[str, ...], level: float, exclude_under: float
) -> BiasTable:
    size, design = people["people"].to_numpy(dtype=float), design_of(people)
    values = [people[f"group: {name}"].astype(str) for name in attributes]
    known = np.logical_and.reduce(
        [~value.str.strip().str.casefold().isin(_UNKNOWN).to_numpy() for value in values]
    )
    score = people["score"].to_numpy(dtype=float)
    median = _median(score, size)
    above = score > median
    decided = people["decision"].to_numpy(dtype=bool)
    parts = {f"part {place}": value for place, value in enumerate(values)}
    amounts = {"people": size, "selected": size * decided, "scored above median": size * above}
    counted = pd.DataFrame({**parts, **amounts})[known]
    grouped = counted.groupby(list(parts), sort=True)
    code = np.full(len(people), -1)
    code[known] = grouped.ngroup()
    found = grouped.sum()
    found["code"] = np.arange(len(found))
    found.index = pd.Index(joined_names([key if isinstance(key, tuple) else (key,) for key in found.index]))
    found = found.sort_values("people", ascending=False, kind="stable")
    found["under 2%"] = found["people"] < SMALL_SHARE * size.sum()
    rows = [{"category": name, "people": n} for name, n in found["people"].items()]
    left_out = (found["people"] < exclude_under * size.sum()).to_numpy(dtype=bool)
    for part, event, rate, ratio in (
        ("selected", decided, "selection rate", "impact ratio"),
        ("scored above median", above, "scoring rate", "scoring impact ratio"),
    ):
        k, n = (found[name].to_numpy(dtype=float) for name in (part, "people"))
        if design is not None:
            counts = share_by_design(design, code, event, code >= 0, len(found), level=level)
            k, n = (each[found["code"]] for each in counts)
        for row, counted, some, many, estimate in zip(
            rows, found[part], k, n, _ratios(k, n, left_out, level), strict=True
        ):
            share = wilson(float(some), float(many), level=level)
            row |= {part: counted} | estimate_cells(rate, share) | estimate_cells(ratio, estimate)
    for row, few in zip(rows, found["under 2%"], strict=True):
        row["under 2%"] = bool(few)
    return BiasTable(attributes, float(size[~known].sum()), median, int(left_out.sum()), pd.DataFrame(rows))


def _ratios(count: np.ndarray, n: np.ndarray, left_out: np.ndarray, level: float) -> list[Estimate]:
    """Return each category's impact ratio; none for those left out, which set no highest rate either.

    The intervals of a table hold together, whichever of its categories truly has the highest rate.
    """
    kept = ~left_out
    ratios, _ = ratios_to_highest(count * kept, n * kept, level=level, least=0.0)
    return [
        Estimate(None, None, None, float(people), "category left out") if out else ratio
        for ratio, people, out in zip(ratios, n, left_out, strict=True)
    ]


def _median(score: np.ndarray, size: np.ndarray) -> float:
    """Return the median of scores of people, each row counted as often as it stands for people."""
    order = np.argsort(score, kind="stable")
    reached = np.cumsum(size[order])
    half = reached[-1] / 2
    place = int(np.searchsorted(reached, half))
    if np.isclose(reached[place], half) and place + 1 < len(order):
        return float((score[order[place]] + score[order[place + 1]]) / 2)
    return float(score[order[place]])
