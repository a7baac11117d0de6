"""Evidence under the headings of Annex IV of the EU AI Act. An aid, never legal advice."""

from __future__ import annotations

from audits.models.facts import accuracy_words
from audits.reports.blocks import Block, Document, Facts, Heading, Text
from audits.reports.contents import AID, RunLike, findings, head, reproduce, sections
from audits.stats.words import count, number

__all__ = ["annex4", "audited", "inputs", "metrics", "protected"]

_PROVIDER = "To be added by the provider."


def annex4(run: RunLike, spec_text: str = "") -> Document:
    """Arrange the evidence under the headings of Annex IV of the EU AI Act (Regulation (EU) 2024/1689)."""
    data, model = run.data, run.model
    blocks: list[Block] = [
        Text(
            "An outline of the technical documentation that Annex IV of Regulation (EU) 2024/1689 "
            "describes, with what "
            f"this audit can contribute to it. {AID}",
            "warning",
        ),
        Heading("1. General description of the system"),
        Facts(
            (("Model", model["name"]), ("Model, SHA-256", model["sha256"]), ("Intended purpose", _PROVIDER))
        ),
        Heading("2. Elements of the system and its development"),
        Text("2 (d): data. What was audited:"),
        Facts(
            (
                ("Data", audited(run)),
                ("Data, SHA-256", data["sha256"]),
                *((f"Left out: {reason}", count(n)) for reason, n in data["excluded"].items()),
                ("Protected attributes", protected(run)),
                ("Provenance, collection, labelling", _PROVIDER),
            )
        ),
        Text(
            "2 (g): validation and testing, with metrics for potentially discriminatory impacts. Findings, "
            "worst first:"
        ),
        *findings(sections(run)),
        Heading("3. Monitoring, functioning and control"),
        Text(
            "3: foreseeable sources of risks to fundamental rights and discrimination, and accuracy for "
            "specific groups "
            "of persons: the findings above, with the numbers of people behind them in the full report. "
            "Human oversight "
            "and input specifications: " + _PROVIDER.lower()
        ),
        Heading("4. Appropriateness of the performance metrics"),
        Text(
            "Every rate and difference carries its number of people, its interval and the method that made "
            "it; verdicts are "
            "corrected for the number of comparisons, and say when there are too few people to see a "
            "material difference."
        ),
    ]
    for title in (
        "5. Risk management system (Article 9)",
        "6. Changes through the lifecycle",
        "7. Harmonised standards applied",
        "8. EU declaration of conformity (Article 47)",
        "9. Post-market monitoring (Article 72)",
    ):
        blocks += [Heading(title), Text(_PROVIDER)]
    return Document("Annex IV evidence outline", head(run), (*blocks, *reproduce(run, spec_text)))


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
