"""Evidence under the headings of Annex IV of the EU AI Act. An aid, never legal advice.

Regulation (EU) 2024/1689, Annex IV, which Regulation (EU) 2026/1744 left as it was: its nine points, and the
letters of points 1 and 2, each with what a run tells of it or that the provider has to.
"""

from __future__ import annotations

from audits.models.metadata import accuracy_words
from audits.reports.blocks import Block, Document, Facts, Heading, Text
from audits.reports.contents import AID, RunLike, findings, head, reproduce, sections
from audits.runs.registry import AUDITS
from audits.stats.words import count, number

__all__ = ["annex4", "audited", "inputs", "metrics", "protected"]

_PROVIDER = "To be added by the provider."


def annex4(run: RunLike, spec_text: str = "") -> Document:
    """Arrange the evidence under the headings of Annex IV of the EU AI Act (Regulation (EU) 2024/1689)."""
    blocks: list[Block] = [
        Text(
            "An outline of the technical documentation that Annex IV of Regulation (EU) 2024/1689 "
            "describes, point by point and letter by letter, with what this audit can contribute. The "
            "Annex asks for at least this, as applicable to the system. Small and, since 2026, small "
            "mid-cap enterprises may use a simplified form (Article 11 (1)). As amended by Regulation (EU) "
            "2026/1744, the duty applies from 2 December 2027 to systems of Annex III and from 2 August "
            "2028 to those of Annex I (Article 113); to which systems, and what changed since, has to be "
            f"looked up. {AID}",
            "warning",
        ),
        *_described(run),
        Text("2 (g), and 3 on the accuracy overall: accuracy in this test:"),
        *metrics(run),
        Text("2 (g): potentially discriminatory impacts. Findings, worst first:"),
        *findings(sections(run)),
        Heading("3. Monitoring, functioning and control"),
        Text(
            "Accuracy for specific groups of persons, and sources of risk of discrimination: the findings "
            "above; rates of every group, with the numbers of people behind them, are in the full report. "
            "What these audits cannot tell:"
        ),
        *(Text(AUDITS[name].limits, "quiet") for name in dict.fromkeys(each.name for each in run.audits)),
        Facts(
            (
                ("Persons and groups on whom it is intended to be used", _PROVIDER),
                ("Overall level of accuracy expected for the intended purpose", _PROVIDER),
                ("Unintended outcomes; risks to health, safety and other fundamental rights", _PROVIDER),
                ("Human oversight (Article 14), and what helps deployers interpret outputs", _PROVIDER),
                ("Specifications of input data", _PROVIDER),
            )
        ),
        Heading("4. Appropriateness of the performance metrics"),
        Text(
            "Of the metrics of this run: every rate and difference carries its number of people, its "
            "interval and the method that made it; verdicts are corrected for the number of comparisons, and "
            "say when there are too few people to see a material difference. Why they fit this system: "
            + _PROVIDER.lower()
        ),
    ]
    for title in (
        "5. Risk management system (Article 9)",
        "6. Changes by the provider through the lifecycle",
        "7. Harmonised standards applied; where none, the solutions adopted and other standards",
        "8. EU declaration of conformity (Article 47)",
        "9. System to evaluate performance on the market (Article 72), with its plan (Article 72 (3))",
    ):
        blocks += [Heading(title), Text(_PROVIDER)]
    return Document("Annex IV evidence outline", head(run), (*blocks, *reproduce(run, spec_text)))


def _described(run: RunLike) -> list[Block]:
    """Points 1 and 2: what the system is, and how it was made."""
    data, model = run.data, run.model
    return [
        Heading("1. General description of the system"),
        Facts(
            (
                ("(a) Intended purpose, provider, earlier versions", _PROVIDER),
                ("(a) Name of the model audited", model["name"]),
                ("(a) Version: SHA-256 of the model", model["sha256"]),
                ("(b) Hardware, software and other AI systems that it works with", _PROVIDER),
                ("(c) Versions of software and firmware, and what updates ask for", _PROVIDER),
                ("(d) Forms in which it is placed on the market", _PROVIDER),
                ("(e) Hardware on which it is intended to run", _PROVIDER),
                ("(f) Product of which it is a part: photographs, marking, layout", _PROVIDER),
                ("(g), (h) User interface and instructions for the deployer", _PROVIDER),
            )
        ),
        Heading("2. Elements of the system and its development"),
        Facts(
            (
                ("(a) Methods and steps of development; pre-trained systems and tools of others", _PROVIDER),
                ("(b) Output of the model audited", model.get("rule") or "a decision"),
                ("(b) General logic; key choices, reasons and assumptions, on whom it is used", _PROVIDER),
                ("(b) Classification choices, what is optimised, relevance of parameters", _PROVIDER),
                ("(b) Expected output and its quality; trade-offs", _PROVIDER),
                ("(c) Architecture and computing resources", _PROVIDER),
                ("(d) Data audited", audited(run)),
                ("(d) Data audited, SHA-256", data["sha256"]),
                *((f"(d) Left out: {reason}", count(n)) for reason, n in data["excluded"].items() if n),
                ("(d) Columns that the model reads", inputs(run)),
                ("(d) Training: methods; data, their provenance, scope and characteristics", _PROVIDER),
                ("(d) Training data: how obtained, selected, labelled and cleaned", _PROVIDER),
                ("(e) Human oversight measures (Article 14), and how outputs are made understood", _PROVIDER),
                ("(f) Changes determined beforehand, and what keeps the system compliant", _PROVIDER),
                ("(g) Protected attributes looked at", protected(run)),
                ("(g) Validation and testing: procedures, data and their characteristics", _PROVIDER),
                ("(g) Metrics of robustness and of the other requirements", _PROVIDER),
                ("(g) Test logs, and reports dated and signed, of changes under (f) too", _PROVIDER),
                ("(h) Cybersecurity measures", _PROVIDER),
            )
        ),
    ]


def audited(run: RunLike) -> str:
    """Say how many rows were audited."""
    return f"{count(run.data['rows_audited'])} rows audited of {count(run.data['rows_read'])} read"


def protected(run: RunLike) -> str:
    """Name the protected attributes of the run."""
    return ", ".join(run.spec.get("data", {}).get("protected") or []) or "none named"


def inputs(run: RunLike) -> str:
    """Name the columns that the model reads."""
    return ", ".join(map(str, run.model["columns"])) or "not known: predictions alone"


def metrics(run: RunLike) -> list[Block]:
    """State how often the model is right, and of whom; say so where no label tells."""
    right = accuracy_words(run.model)
    if not right:
        return [
            Text("The data hold no label that decisions could be compared with: no metric of performance.")
        ]
    quality = run.model["quality"]
    rows = [("Accuracy", right)]
    for name, key in (("Area under the ROC curve", "auc"), ("Log loss", "log_loss")):
        found = quality.get(key)
        if found and found["value"] is not None:
            ends = "" if found["low"] is None else f" ({number(found['low'])} to {number(found['high'])})"
            rows.append((name, number(found["value"]) + ends))
    return [Facts(tuple(rows))]
