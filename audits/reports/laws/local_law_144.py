"""Tables in the shape that New York City's Local Law 144 asks for. An aid, never legal advice."""

from __future__ import annotations

from audits.groups import GroupsResult
from audits.groups.ll144 import BiasTable, bias_tables
from audits.report_kinds import SMALL_SHARE
from audits.reports.blocks import Block, Document, Facts, Heading, Text, grid
from audits.reports.contents import AID, RunLike, head, reproduce
from audits.stats.words import count, number, people

__all__ = ["ll144", "not_assessed"]

_AUDITOR = "To be added by the independent auditor."
_EMPLOYER = "To be added by the employer or employment agency."
_NOT_HERE = (
    ("Whether the tool is an automated employment decision tool (§ 5-300)", _AUDITOR),
    ("Independence of the auditor (§ 5-300)", _AUDITOR),
    ("Whether the categories are those of the EEO-1 report, Component 1 (§ 5-300)", _AUDITOR),
    ("Rates of each group into which the tool classifies people, if it does (§ 5-301 (b) (4))", _AUDITOR),
    ("Whether a category under 2 % is left out of the ratios, and why (§ 5-301 (d))", _AUDITOR),
    (
        "Source and explanation of the data, and whose historical data they are (§ 5-302 (a), § 5-303)",
        _AUDITOR,
    ),
    ("If test data: why not historical data, how generated and obtained (§ 5-302 (b))", _AUDITOR),
    (
        "Date of the latest bias audit; after a year the tool may not be used (§ 5-301 (a), § 5-303)",
        _EMPLOYER,
    ),
    ("Distribution date: when use of the tool began (§ 5-300, § 5-303 (a) (2))", _EMPLOYER),
    (
        "Where the website's employment section shows or links all this, before use (§ 5-303 (a), (b))",
        _EMPLOYER,
    ),
    ("That it stays there for at least 6 months after the latest use (§ 5-303 (c))", _EMPLOYER),
    (
        "Notice at least 10 business days before use, and how to ask for another way (§ 5-304 (a) to (c))",
        _EMPLOYER,
    ),
    ("Qualifications and characteristics looked at, in that notice (§ 20-871 b 2 of the Code)", _EMPLOYER),
    ("Data kept, their type and source: posted, and given on request in 30 days (§ 5-304 (d))", _EMPLOYER),
)
_RATES = (
    "Selection rate: people decided favorably, of all in the category. Scoring rate: people whose "
    "score lies above the median of all scores, those of people of unknown category included (“the "
    "full sample”, § 5-301 (c) (1)). Impact ratio: a rate divided by the highest of the table."
)
_LEFT_OUT = (
    "Categories under {share:g} % of all people are left out of the first impact ratios, as an auditor may "
    "who says why (§ 5-301 (d)), because ratios of so few people say little; their numbers and rates are "
    "shown, and a table with every category follows. That all people, those of unknown category included, "
    "are the data of which the share is taken is our reading."
)
_NONE_LEFT_OUT = (
    f"No category is left out of the impact ratios, as those under {100 * SMALL_SHARE:g} % of the data may "
    "be (§ 5-301 (d))."
)
_INTERVALS = (
    "Numbers in brackets are 95 % intervals unless the spec says otherwise; those of a table's impact ratios "
    "hold for all its categories together, whichever truly has the highest rate. The rules do not ask for "
    "them, and a ratio without its interval can mislead. Nor do they say how to round; their examples show "
    "two or three places."
)


def ll144(
    run: RunLike,
    spec_text: str = "",
    *,
    sex: str | None = None,
    race: str | None = None,
    exclude_under: float = SMALL_SHARE,
) -> Document:
    """Arrange selection and scoring rates with impact ratios as New York City's Local Law 144 asks.

    Parameters
    ----------
    sex, race : str, optional
        Protected attributes that hold them; by default those whose names say so.
    exclude_under : float
        Share of the people under which a category is left out of the first impact ratios.
    """
    scored = run.model.get("score_kind") != "label"
    blocks: list[Block] = [
        Text(
            "Tables as described in the rules of New York City's Local Law 144 of 2021 (6 RCNY § 5-300 to § "
            "5-304, in effect since 6 May 2023). The rules name no impact ratio that has to be reached. "
            + AID,
            "warning",
        )
    ]
    results = [audit.result for audit in run.audits if isinstance(audit.result, GroupsResult)]
    if not results:
        blocks.append(
            Text("The run holds no groups audit: add “- groups: {}” to the spec's audits and run it again.")
        )
    for result in results:
        tables = bias_tables(result, sex=sex, race=race, exclude_under=exclude_under)
        if not tables:
            blocks.append(
                Text(
                    "No protected attribute is named after sex, gender, race or ethnicity, so no table can "
                    "be made: say which columns hold them."
                )
            )
        blocks.append(
            Facts(
                (
                    ("People assessed", count(result.people["people"].sum())),
                    ("Decision", result.outcome),
                    ("Sex and race/ethnicity", "; ".join(" and ".join(table.attributes) for table in tables)),
                    *((("Median score", number(tables[0].median)),) if tables and scored else ()),
                    ("Data, SHA-256", run.data["sha256"]),
                    ("Model", run.model["name"]),
                )
            )
        )
        every = bias_tables(result, sex=sex, race=race, exclude_under=0)
        for table, whole in zip(tables, every, strict=True):
            blocks += _bias_table(table, whole, scored=scored)
        blocks += not_assessed(run)
        if not scored:
            blocks.append(Text("The model gives decisions and no scores: there are no scoring rates."))
    blocks += [
        Heading("What is counted"),
        Text(_RATES),
        Text(_LEFT_OUT.format(share=100 * exclude_under) if exclude_under else _NONE_LEFT_OUT),
        Text(_INTERVALS),
        Heading("What the rules ask for and this run cannot give"),
        Facts(_NOT_HERE),
        *reproduce(run, spec_text),
    ]
    return Document("Bias audit tables", head(run), tuple(blocks))


def not_assessed(run: RunLike) -> list[Block]:
    """Say who was left out before anybody was counted: among them may be people of unknown category."""
    left_out = [f"{count(n)} ({reason})" for reason, n in run.data["excluded"].items() if n]
    if not left_out:
        return []
    told = f"Rows left out before, and not among those of unknown category: {', '.join(left_out)}."
    missing = any("missing" in reason for reason in run.data["excluded"])
    advice = " With data.missing: category, people whose category is missing are counted as unknown."
    return [Text(told + (advice if missing else ""), "warning")]


def _bias_table(table: BiasTable, every: BiasTable, *, scored: bool) -> list[Block]:
    name = " and ".join(table.attributes)
    selection = ["category", "people", "selected"] + [f"selection rate{end}" for end in ("", " low", " high")]
    selection += [f"impact ratio{end}" for end in ("", " low", " high")] + ["under 2 %"]
    scoring = ["category", "people", "scored above median"] + [
        f"scoring rate{end}" for end in ("", " low", " high")
    ]
    scoring += [f"scoring impact ratio{end}" for end in ("", " low", " high")] + ["under 2 %"]
    few = people(table.unknown)
    unknown = f"{few} {'is' if few.startswith('1 ') else 'are'} of unknown category and in no row."
    if not len(table.rows):
        return [Heading(name), Text(unknown)]
    small = int(table.rows["under 2 %"].sum())
    shown = [(table, "")] + ([(every, ", every category")] if table.left_out else [])
    return [
        Heading(name),
        *(grid(each.rows[selection], name=f"Selection rates by {name}{which}") for each, which in shown),
        *(
            grid(each.rows[scoring], name=f"Scoring rates by {name}{which}")
            for each, which in shown
            if scored
        ),
        Text(f"{unknown} {small} of {len(table.rows)} categories hold under 2 % of all people.", "quiet"),
    ]
