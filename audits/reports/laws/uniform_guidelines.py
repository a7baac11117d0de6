"""Tables for the four-fifths rule of the US Uniform Guidelines. An aid, never legal advice.

Uniform Guidelines on Employee Selection Procedures (1978), 29 CFR part 1607: records by sex and by race or
ethnic group (§ 1607.4 A and B, § 1607.15 A), the selection rate (§ 1607.16 R), the rule itself and its
exceptions for small numbers and differences that are not significant (§ 1607.4 D); question 21 of the
agencies' questions and answers (44 FR 11996, 1979) on one person decided otherwise.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import fisher_exact

from audits.groups.ll144 import BiasTable
from audits.report_kinds import SMALL_SHARE
from audits.reports.blocks import Block, Document, Heading, Text, grid
from audits.reports.laws.local_law_144 import category_tables, head_count, not_assessed
from audits.reports.outline import outline
from audits.stats import exceeds, holm
from audits.stats.text import people
from audits.stats.verdicts import FOUR_FIFTHS
from audits.text import join_names

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
        alone = [both for both in tables if len(both[0].attributes) == 1]
        # rows that stand for other than one independent person each cannot be counted in an exact test
        counted = "cluster" not in result.people and bool(np.all(result.people["people"] % 1 == 0))
        shown = [
            block
            for both in alone
            for block in _table(
                *both, counted=counted, level=float(result.options["level"]), least=exclude_under
            )
        ]
        people_of = head_count(run, result)
        told.append({"people": people_of, "outcome": result.outcome, "tables": len(alone), "shown": shown})
    return outline(
        run,
        spec_text,
        template="uniform_guidelines",
        title="Four-fifths rule",
        results=told,
        not_assessed=not_assessed(run),
        share=f"{100 * exclude_under:g}" if exclude_under else "",
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


def _table(table: BiasTable, every: BiasTable, *, counted: bool, level: float, least: float) -> list[Block]:
    name = table.attributes[0]
    unknown = (
        f"{people(table.unknown)} of unknown category {'is' if table.unknown == 1 else 'are'} in no row."
    )
    if not len(table.rows):
        return [Heading(name), Text(unknown)]
    found, title = impact(table, level=level, counted=counted), f"Selection rates and impact ratios by {name}"
    all_groups = impact(every, level=level, counted=counted)
    small = all_groups[found["impact ratio"].isna() & all_groups["below four fifths"].eq(True)]
    said = _sentence(
        found, level, f" of at least {100 * least:g}% of the applicants" if table.left_out else ""
    )
    if len(small):
        said += f" Among smaller groups: {_sentence(small, level)}"
    blocks: list[Block] = [Heading(name), Text(said, "finding"), grid(found, name=title)]
    if table.left_out:
        blocks.append(grid(all_groups, name=f"{title}, every group"))
    blocks.append(Text(unknown, "quiet"))
    if not counted:
        blocks.append(
            Text(
                "Rows are not independent people, so there is no exact test. Intervals use effective "
                "sizes: as many independent people as would carry the same information.",
                "quiet",
            )
        )
    return blocks


def _sentence(found: pd.DataFrame, level: float, which: str = "") -> str:
    """Say which groups, of `which` all are, fall below four fifths, and what § 1607.4 D says of each."""
    below = found[found["below four fifths"].eq(True)]
    if not len(below):
        smaller = found[found["beyond chance"].eq(True)]
        if not len(smaller):
            return f"No group{which} has a selection rate below four fifths of the highest."
        return (
            f"No group{which} has a selection rate below four fifths of the highest, but "
            f"{join_names(smaller['group'], most=99)} {'is' if len(smaller) == 1 else 'are'} selected "
            "less often, by more than chance: § 1607.4 D calls smaller differences adverse impact where they "
            "are significant in statistical and practical terms."
        )
    sure = list(below[below["beyond chance"].eq(True)]["group"])
    unsure = [group for group in below["group"] if group not in sure]
    told = []
    if sure:
        told.append(
            f"{join_names(sure, most=99)}: selected at less than four fifths of the highest rate, by more "
            f"than chance (all groups together, level {level:g})."
        )
    if unsure:
        told.append(
            f"{join_names(unsure, most=99)}: below four fifths, but within chance; § 1607.4 D may not count "
            "differences of small numbers that are not significant."
        )
    return " ".join(told)
