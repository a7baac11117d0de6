"""Evidence under the headings of the Colorado AI Act's impact assessment. An aid, never legal advice.

Colorado Revised Statutes § 6-1-1703 (3) (a) to (g), as enacted by Senate Bill 24-205 (2024): what a
deployer's impact assessment has to include, when it is made again, and how long it is kept.
"""

from __future__ import annotations

from audits.reports.blocks import Block, Document, Facts, Heading, Text
from audits.reports.contents import AID, RunLike, findings, head, reproduce, sections
from audits.reports.laws.annex_iv import audited, inputs, metrics, protected
from audits.runs.registry import AUDITS
from audits.stats.words import count

__all__ = ["colorado"]

_DEPLOYER = "To be added by the deployer."


def colorado(run: RunLike, spec_text: str = "") -> Document:
    """Arrange the evidence under what § 6-1-1703 (3) (b) of the Colorado Revised Statutes lists."""
    data, model = run.data, run.model
    blocks: list[Block] = [
        Text(
            "An outline of the impact assessment that § 6-1-1703 (3) of the Colorado Revised Statutes "
            "(Senate Bill 24-205 of 2024) describes, with what this audit can contribute. When its duties "
            f"begin, and what later bills changed, has to be looked up. {AID}",
            "warning",
        ),
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
    ]
    return Document("Impact assessment outline", head(run), (*blocks, *reproduce(run, spec_text)))
