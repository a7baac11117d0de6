"""Evidence for Colorado's law on automated decisions, in its two versions. An aid, never legal advice.

Colorado Revised Statutes, title 6, article 1, part 17. As enacted by Senate Bill 24-205 (2024), § 6-1-1703
(3) (a) to (g) has a deployer assess impact; Senate Bill 26-189 (2026) repeals and reenacts the part from
1 January 2027 without an assessment: documents of the developer (§ 6-1-1702), records (§ 6-1-1703), and
what consumers are told and may ask for (§ 6-1-1704, § 6-1-1705).
"""

from __future__ import annotations

from audits.reports.blocks import Block, Document, Facts, Heading, Text
from audits.reports.contents import AID, RunLike, findings, head, reproduce, sections
from audits.reports.laws.annex_iv import audited, inputs, metrics, protected
from audits.runs.registry import AUDITS
from audits.stats.words import count

__all__ = ["colorado"]

_DEPLOYER = "To be added by the deployer."
_DEVELOPER = "To be added by the developer."
_STANDS = (
    "The impact assessment below is that of Senate Bill 24-205 of 2024 (§ 6-1-1703 (3) of the "
    "Colorado Revised Statutes). Its duties were moved to 30 June 2026 by Senate Bill 25B-004, and "
    "a court order of 27 April 2026 stayed their enforcement; Senate Bill 26-189, signed on 14 May "
    "2026, repeals them from 1 January 2027 and asks for no impact assessment. What it asks for "
    "instead stands at the end, with what this audit can contribute; the attorney general's rules "
    f"under it have to be looked up. {AID}"
)


def colorado(run: RunLike, spec_text: str = "") -> Document:
    """Arrange the evidence under what part 17 asked for in 2024, and asks for from 2027."""
    data, model = run.data, run.model
    blocks: list[Block] = [
        Text(_STANDS, "warning"),
        Heading("Impact assessment as enacted in 2024, § 6-1-1703 (3)"),
        Heading("(b) (I) Purpose, intended use cases, deployment context, benefits"),
        Facts((("System", model["name"]), ("Purpose, uses, context, benefits", _DEPLOYER))),
        Heading("(b) (II) Risks of algorithmic discrimination, and steps taken against them"),
        Text(
            "What the audits of this run found, worst first; a finding is a difference, not its unlawfulness:"
        ),
        *findings(sections(run)),
        Facts(
            (
                ("Protected attributes looked at", protected(run)),
                ("Protected classes of § 6-1-1701 (1) that were not looked at", _DEPLOYER),
                ("Steps taken to mitigate", _DEPLOYER),
            )
        ),
        Heading("(b) (III) Categories of data: inputs and outputs"),
        Facts(
            (
                ("Inputs of the model", inputs(run)),
                ("Output", model.get("rule") or "a decision"),
                ("People in this audit", audited(run)),
                *((f"Left out: {reason}", count(n)) for reason, n in data["excluded"].items() if n),
            )
        ),
        Heading("(b) (IV) Data used to customize the system"),
        Text(_DEPLOYER),
        Heading("(b) (V) Metrics of performance, and known limitations"),
        *metrics(run),
        *(Text(AUDITS[name].limits, "quiet") for name in dict.fromkeys(each.name for each in run.audits)),
        Heading("(b) (VI) Transparency: what consumers are told, and when"),
        Text(_DEPLOYER),
        Heading("(b) (VII) Monitoring after deployment, oversight, safeguards for users"),
        Text(
            "Evenhand's monitors can watch inputs, scores, groups and outcomes of the deployed model; "
            f"whether they do, and who acts on them: {_DEPLOYER.lower()}"
        ),
        Heading("(c) After an intentional and substantial modification"),
        Text("How far the system was used as its developer intended: " + _DEPLOYER.lower()),
        Heading("(d), (e) Comparable systems, and assessments under other laws"),
        Text(
            "One assessment may cover a set of comparable systems, and one made under another law may do if "
            "it is reasonably similar in scope and effect: " + _DEPLOYER.lower()
        ),
        Heading("(a), (f), (g) When it is made again, and how long it is kept"),
        Text(
            "The assessment is made at least once a year and within ninety days after such a modification is "
            "made available; the latest, its records and all earlier ones are kept for at least three years "
            "after the final deployment; each deployment is reviewed at least once a year for algorithmic "
            "discrimination."
        ),
        *_since_2027(run),
    ]
    return Document("Colorado outline", head(run), (*blocks, *reproduce(run, spec_text)))


def _since_2027(run: RunLike) -> list[Block]:
    """What Senate Bill 26-189 asks for of decisions made from 1 January 2027 on."""
    model, trained = run.model, run.model.get("trained_on")
    return [
        Heading("From 1 January 2027: documents of the developer, § 6-1-1702 (1) and (2)"),
        Facts(
            (
                ("(1) (a) Intended uses; known harmful or inappropriate uses", _DEVELOPER),
                ("(1) (b) Categories of training data", _DEVELOPER),
                *([("(1) (b) People trained on in this run", count(trained))] if trained else []),
                ("(1) (c) Known limitations and risks: found here", "The findings and limits above."),
                ("(1) (c) Others, and when it should not be used", _DEVELOPER),
                ("(1) (d) Instructions for use, monitoring and human review", _DEVELOPER),
                ("(1) (e) What deployers need for what they disclose", _DEVELOPER),
                ("(2) Notice of material updates and changed uses, limits or mitigation", _DEVELOPER),
            )
        ),
        Heading("Records for three years, § 6-1-1702 (4) and § 6-1-1703"),
        Facts(
            (
                ("Version identifier: SHA-256 of the model", model["sha256"]),
                ("Data of this audit, SHA-256", run.data["sha256"]),
                ("Changelogs and notices, three years from when each was made", _DEVELOPER),
                ("Changes made to mitigate, three years from the date of a decision", _DEPLOYER),
            )
        ),
        Heading("What consumers are told and may ask for, § 6-1-1704 and § 6-1-1705"),
        Facts(
            (
                (
                    "Whether the technology materially influences a consequential decision (§ 6-1-1701)",
                    _DEPLOYER,
                ),
                ("Notice before the decision (§ 6-1-1704 (1), (2))", _DEPLOYER),
                (
                    "Within 30 days of an adverse outcome: the decision, and its part in it (§ 6-1-1704 (3))",
                    _DEPLOYER,
                ),
                ("Personal data used: inputs of the model", inputs(run)),
                ("Correction of data, meaningful human review (§ 6-1-1705 (1))", _DEPLOYER),
            )
        ),
    ]
