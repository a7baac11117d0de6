"""Tables for the four-fifths rule of the US Uniform Guidelines. An aid, never legal advice.

Uniform Guidelines on Employee Selection Procedures (1978), 29 CFR part 1607: records by sex and by race or
ethnic group (§ 1607.4 A and B, § 1607.15 A), the selection rate (§ 1607.16 R), the rule itself and its
exceptions for small numbers and differences that are not significant (§ 1607.4 D); question 21 of the
agencies' questions and answers (44 FR 11996, 1979) on one person decided otherwise.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import fisher_exact

from audits.groups.ll144 import BiasTable
from audits.report_kinds import SMALL_SHARE
from audits.reports.blocks import Document, grid
from audits.reports.laws.local_law_144 import category_tables, head_count, not_assessed
from audits.reports.outline import outline
from audits.stats import exceeds, holm
from audits.stats.verdicts import FOUR_FIFTHS

if TYPE_CHECKING:
    from audits.runs.result import RunResult


def four_fifths(
    run: RunResult,
    spec_text: str = "",
    *,
    sex: str | None = None,
    race: str | None = None,
    exclude_under: float = SMALL_SHARE,
) -> Document:
    """Arrange selection rates by sex and by race or ethnic group as the Uniform Guidelines look at them.

    Parameters
    ----------
    sex, race : str, optional
        Protected attributes that hold them; by default those whose names say so.
    exclude_under : float
        Share of the applicants under which a group has no ratio in the first table.
    """
    told = []
    for result, tables in category_tables(run, sex=sex, race=race, exclude_under=exclude_under):
        # rows that stand for other than one independent person each cannot be counted in an exact test
        counted = "cluster" not in result.people and bool(np.all(result.people["people"] % 1 == 0))
        level = float(result.options["level"])
        alone = [both for both in tables if len(both[0].attributes) == 1]
        told.append(
            {
                "people": head_count(run, result),
                "tables": [_table(*both, counted=counted, level=level) for both in alone],
                "counted": counted,
                "level": f"{level:g}",
            }
        )
    return outline(
        run,
        spec_text,
        template="uniform_guidelines",
        title="Four-fifths rule",
        results=told,
        not_assessed=not_assessed(run),
        share=f"{100 * exclude_under:g}",
    )


def impact(table: BiasTable, *, level: float = 0.05, counted: bool = True) -> pd.DataFrame:
    """Return what the Guidelines look at, a row a group.

    Parameters
    ----------
    level : float
        Family-wise, of what is called beyond chance.
    counted : bool
        Whether rows are people, so that they can be counted in an exact test.

    Returns
    -------
    DataFrame
        ``group``, ``applicants``, ``selected``, ``selection rate`` and ``impact ratio`` with ends, ``below
        four fifths``, ``beyond chance``, ``p``, ``one person``: missing where the group is too small for a
        ratio, is the one with the highest rate, or its people were not counted.
    """
    rows = table.rows.rename(columns={"category": "group", "people": "applicants"})
    ends = [f"{name}{end}" for name in ("selection rate", "impact ratio") for end in ("", " low", " high")]
    found = rows[["group", "applicants", "selected", *ends]].reset_index(drop=True)
    rated = found["impact ratio"].notna().to_numpy()
    told = pd.DataFrame(
        {name: pd.Series([None] * len(found), dtype=object) for name in ("below", "beyond", "p", "one")}
    )
    if rated.any():
        rates = np.where(rated, found["selection rate"].to_numpy(dtype=float), -1.0)
        highest = int(rates.argmax())
        n, k = (found[name].to_numpy(dtype=float) for name in ("applicants", "selected"))
        p = _pairs(k, n, np.flatnonzero(rated)) if counted else None
        for each in np.flatnonzero(rated & (rates < rates[highest])):
            told.loc[each, "below"] = exceeds(FOUR_FIFTHS, float(found["impact ratio"].iloc[each]))
            if p is None:
                high = found["impact ratio high"].iloc[each]
                told.loc[each, "beyond"] = None if pd.isna(high) else bool(high < 1)
                continue
            told.loc[each, "beyond"] = bool((p[each, rates > rates[each]] <= level).any())
            told.loc[each, "p"] = float(p[each, highest])
            told.loc[each, "one"] = bool((k[each] + 1) / n[each] > (k[highest] - 1) / n[highest])
    found["below four fifths"], found["beyond chance"] = told["below"], told["beyond"]
    found["p"], found["one person"] = told["p"], told["one"]
    return found


def _pairs(count: np.ndarray, n: np.ndarray, places: np.ndarray) -> np.ndarray:
    """p-values (k, k) of Fisher's exact test of two groups' rates, by Holm for all pairs of `places`; else 1.

    Of all pairs, because which group has the highest rate is itself seen in the data.
    """
    pairs = list(itertools.combinations(places, 2))
    single = [
        fisher_exact([[count[i], n[i] - count[i]], [count[j], n[j] - count[j]]]).pvalue for i, j in pairs
    ]
    p = np.ones((len(n), len(n)))
    for (i, j), corrected in zip(pairs, holm(np.array(single)), strict=True):
        p[i, j] = p[j, i] = corrected
    return p


def _table(table: BiasTable, every: BiasTable, *, counted: bool, level: float) -> dict[str, Any]:
    """Return what is told of a table: its grids, and of which groups."""
    title = f"Selection rates and impact ratios by {table.attributes[0]}"
    if not len(table.rows):
        return {"of": table}
    found, all_groups = (impact(each, level=level, counted=counted) for each in (table, every))
    shown = [(found, title)] + ([(all_groups, f"{title}, every group")] if table.left_out else [])
    small = all_groups[found["impact ratio"].isna() & all_groups["below four fifths"].eq(True)]
    grids = [grid(frame, name=name) for frame, name in shown]
    return {"of": table, "grids": grids, "told": _groups(found), "small": _groups(small)}


def _groups(found: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the groups below four fifths, and those that are selected less often by more than chance."""
    below, beyond = (found["group"][found[name].eq(True)] for name in ("below four fifths", "beyond chance"))
    return list(below), list(beyond)
