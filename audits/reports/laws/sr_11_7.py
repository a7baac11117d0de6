"""Validation notes in the style of SR 26-2, which took the place of SR 11-7. An aid, never legal advice.

Board of Governors of the Federal Reserve System, Office of the Comptroller of the Currency and Federal
Deposit Insurance Corporation, "Revised Guidance on Model Risk Management" (SR 26-2 / OCC 2026-13, 17 April
2026): section III on effective challenge and materiality, IV on development and use, V on validation
(conceptual soundness, outcomes analysis, ongoing monitoring), VI on governance, VII on models of vendors.
It supersedes SR 11-7 / OCC 2011-12 (4 April 2011), whose section V has the same three elements and whose
names are kept.
"""

from __future__ import annotations

from audits.reports.blocks import Block, Document, Facts, Heading, Text
from audits.reports.contents import AID, ASSUMPTIONS, RunLike, findings, head, reproduce, sections
from audits.reports.laws.annex_iv import audited, inputs, metrics, protected
from audits.runs.registry import AUDITS
from audits.stats.words import count

__all__ = ["sr_11_7"]

_OWNER = "To be added by the owner of the model."
_VALIDATOR = "To be added by the validator."
_CONCLUSION = (
    ("Expertise, independence and standing of those who challenge (section III)", _VALIDATOR),
    ("Findings accepted, with their severity", _VALIDATOR),
    ("Actions, owners, dates", _VALIDATOR),
    ("Conditions on use, overlays, limits", _VALIDATOR),
    ("Roles, conflicts of interest, inventory of models, documentation (section VI)", _OWNER),
    ("Approved by, date", _VALIDATOR),
    ("Next validation", _VALIDATOR),
)
_STANDS = (
    "Notes on fairness for a validation in the style of SR 11-7 / OCC 2011-12 (2011) and of SR "
    "26-2 / OCC 2026-13, which superseded it on 17 April 2026; sections are those of SR 26-2. It "
    "sets no enforceable standards, is expected to be most relevant to banking organizations above "
    "30 billion dollars in total assets, and leaves out simple arithmetic, deterministic rules, "
    "and generative and agentic AI. The notes cover the differences between groups that the audits "
    f"below looked at and no other risk of the model; what changed since has to be looked up. {AID}"
)


def sr_11_7(run: RunLike, spec_text: str = "") -> Document:
    """Arrange the evidence as a validator's notes under the elements of SR 26-2 and SR 11-7."""
    data, model = run.data, run.model
    trained, imputed = model.get("trained_on"), data.get("imputed") or {}
    blocks: list[Block] = [
        Text(_STANDS, "warning"),
        Heading("1. Model and use"),
        Facts(
            (
                ("Model", model["name"]),
                ("Model, SHA-256", model["sha256"]),
                ("Output", model.get("rule") or "a decision"),
                ("Purpose, exposure, materiality; inherent and aggregate risk (section III)", _OWNER),
                ("Users, and uses for which it is not meant (section IV)", _OWNER),
                ("Vendor or third party: design, data, performance, customization (section VII)", _OWNER),
            )
        ),
        Heading("2. Conceptual soundness and developmental evidence (section V)"),
        Facts(
            (
                ("Variables", inputs(run)),
                ("Protected attributes", protected(run)),
                ("Data", audited(run)),
                ("Data, SHA-256", data["sha256"]),
                *((f"Left out: {reason}", count(n)) for reason, n in data["excluded"].items() if n),
                *((f"Cells filled in: {name}", count(n)) for name, n in imputed.items() if n),
                ("Trained on", _OWNER if trained is None else f"{count(trained)} people of the same data"),
                ("Theory, design, key choices, assumptions and judgments", _OWNER),
                ("Data: quality, relevance, proxies (section IV)", _OWNER),
                ("Testing in development; sensitivity to inputs, stress at their ends", _OWNER),
                ("Interpretability; benchmarking against other models", _OWNER),
                ("Implementation: the code that decides, its controls (section IV)", _OWNER),
            )
        ),
        *(Text(note, "quiet") for note in [*(data.get("notes") or []), *(model.get("notes") or [])]),
        Heading("3. Ongoing monitoring (section V)"),
        Text(
            "How the model does as products, clients, data or markets change, its limitations over time, "
            "overlays and overrides, and what is done about issues: " + _VALIDATOR.lower()
        ),
        Heading("4. Outcomes analysis (section V)"),
        *metrics(run),
        Text(
            "Back-testing against outcomes of a period that development did not use, outliers, and the "
            "bank's own thresholds beyond which the model is adjusted, recalibrated or redeveloped: "
            + _VALIDATOR.lower()
        ),
        Text("Differences between groups, worst first. Verdicts are corrected for all audits of the run:"),
        *findings(sections(run)),
        Heading("5. Limitations and assumptions"),
        *map(Text, ASSUMPTIONS),
        *(Text(AUDITS[name].limits, "quiet") for name in dict.fromkeys(each.name for each in run.audits)),
        Heading("6. Effective challenge and conclusion"),
        Facts(_CONCLUSION),
    ]
    return Document("Validation notes", head(run), (*blocks, *reproduce(run, spec_text)))
