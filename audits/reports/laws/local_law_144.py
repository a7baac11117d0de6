"""Tables in the shape that New York City's Local Law 144 asks for. An aid, never legal advice."""

from __future__ import annotations

from audits.groups import GroupsResult
from audits.groups.ll144 import SMALL_SHARE, BiasTable, bias_tables
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
    ("Why a category under 2 % was left out of the ratios (§ 5-301 (d))", _AUDITOR),
    ("Source and explanation of the data; historical data of whom, or test data and why (§ 5-302)", _AUDITOR),
    ("Date of the latest bias audit; a tool is used within one year of it (§ 5-301 (a), § 5-303)", _EMPLOYER),
    ("Distribution date of the tool, and where this is published (§ 5-303)", _EMPLOYER),
    ("Notice to candidates and employees (§ 5-304)", _EMPLOYER),
)


def ll144(run: RunLike, spec_text: str = "", *, sex: str | None = None, race: str | None = None) -> Document:
    """Arrange selection and scoring rates with impact ratios as New York City's Local Law 144 asks.

    Parameters
    ----------
    sex, race : str, optional
        Protected attributes that hold them; by default those whose names say so.
    """
    scored = run.model.get("score_kind") != "label"
    blocks: list[Block] = [
        Text(
            "Tables as described in the rules of New York City's Local Law 144 of 2021 (6 RCNY § 5-300 to § "
            "5-304). " + AID,
            "warning",
        )
    ]
    results = [audit.result for audit in run.audits if isinstance(audit.result, GroupsResult)]
    if not results:
        blocks.append(
            Text("The run holds no groups audit: add “- groups: {}” to the spec's audits and run it again.")
        )
    for result in results:
        tables = bias_tables(result, sex=sex, race=race)
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
        for table in tables:
            blocks += _bias_table(table, scored=scored)
        blocks += not_assessed(run)
        if not scored:
            blocks.append(Text("The model gives decisions and no scores: there are no scoring rates."))
    blocks += [
        Heading("What is counted"),
        Text(
            "Selection rate: people decided favorably, of all in the category. Scoring rate: people whose "
            "score lies "
            "above the median of all scores. Impact ratio: a rate divided by the highest of the table. "
            f"Categories under {100 * SMALL_SHARE:.0f} % of all people are left out of the impact ratios, "
            f"because ratios of so "
            "few people say little; their numbers and rates are shown. Numbers in brackets are 95 % "
            "intervals unless the "
            "spec says otherwise; those of a table's impact ratios hold for all its categories together, "
            "whichever truly has the highest rate. The rules do not ask for them, and a ratio without its "
            "interval can mislead."
        ),
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


def _bias_table(table: BiasTable, *, scored: bool) -> list[Block]:
    name = " and ".join(table.attributes)
    small = int(table.rows["under 2 %"].sum()) if len(table.rows) else 0
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
    return [
        Heading(name),
        grid(table.rows[selection], name=f"Selection rates by {name}"),
        *([grid(table.rows[scoring], name=f"Scoring rates by {name}")] if scored else []),
        Text(f"{unknown} {small} of {len(table.rows)} categories hold under 2 % of all people.", "quiet"),
    ]
