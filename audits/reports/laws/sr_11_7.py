"""Validation notes in the style of the supervisory guidance SR 11-7. An aid, never legal advice.

Board of Governors of the Federal Reserve System and Office of the Comptroller of the Currency, "Supervisory
Guidance on Model Risk Management" (SR 11-7 / OCC 2011-12, April 2011): section IV on development and data,
section V on validation with its three elements (conceptual soundness, ongoing monitoring, outcomes analysis)
and on models of vendors, section VI on governance and documentation.
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
    ("Independence of the validator", _VALIDATOR),
    ("Findings accepted, with their severity", _VALIDATOR),
    ("Actions, owners, dates", _VALIDATOR),
    ("Conditions on use, overlays, limits", _VALIDATOR),
    ("Policies, roles, inventory of models, internal audit (section VI)", _OWNER),
    ("Approved by, date", _VALIDATOR),
    ("Next validation", _VALIDATOR),
)


def sr_11_7(run: RunLike, spec_text: str = "") -> Document:
    """Arrange the evidence as a validator's notes under the elements of SR 11-7."""
    data, model = run.data, run.model
    trained, imputed = model.get("trained_on"), data.get("imputed") or {}
    blocks: list[Block] = [
        Text(
            "Notes on fairness for a validation in the style of SR 11-7 / OCC 2011-12 (2011). They cover the "
            "differences between groups that the audits below looked at and no other risk of the model; "
            f"whether later guidance has taken the place of that letter has to be looked up. {AID}",
            "warning",
        ),
        Heading("1. Model and use"),
        Facts(
            (
                ("Model", model["name"]),
                ("Model, SHA-256", model["sha256"]),
                ("Output", model.get("rule") or "a decision"),
                ("Business purpose, users, materiality, tier", _OWNER),
                ("Vendor or third party (section V)", _OWNER),
            )
        ),
        Heading("2. Conceptual soundness and developmental evidence (section V, element 1)"),
        Facts(
            (
                ("Variables", inputs(run)),
                ("Protected attributes", protected(run)),
                ("Data", audited(run)),
                ("Data, SHA-256", data["sha256"]),
                *((f"Left out: {reason}", count(n)) for reason, n in data["excluded"].items() if n),
                *((f"Cells filled in: {name}", count(n)) for name, n in imputed.items() if n),
                ("Trained on", _OWNER if trained is None else f"{count(trained)} people of the same data"),
                ("Theory, design, choice of variables and method", _OWNER),
                ("Data: quality, relevance, proxies (section IV)", _OWNER),
                ("Testing in development; sensitivity to inputs, stress at their ends", _OWNER),
                ("Implementation: the code that decides, its controls (section IV)", _OWNER),
            )
        ),
        *(Text(note, "quiet") for note in [*(data.get("notes") or []), *(model.get("notes") or [])]),
        Heading("3. Ongoing monitoring (section V, element 2)"),
        Text(
            "Process verification, benchmarking, overrides, and what was monitored since the last "
            "validation: " + _VALIDATOR.lower()
        ),
        Heading("4. Outcomes analysis (section V, element 3)"),
        *metrics(run),
        Text(
            "Back-testing against outcomes of a period that development did not use, and early warnings: "
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
