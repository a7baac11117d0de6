"""The record of `top_scores`: all that Evenhand knows of it."""

from __future__ import annotations

from audits.records import Audit
from evenhand_top_scores.options import TopScoresOptions

AUDIT = Audit(
    name="top_scores",
    title="Best scores",
    question="Which groups are among the people with the best scores?",
    also_called="bestscores",
    limits="It takes scores as they are: it does not say whether they are right.",
    options=TopScoresOptions,
    result="evenhand_top_scores.result:TopScoresResult",
    runs="evenhand_top_scores.audit:top_scores_audit",
    presents="evenhand_top_scores.exhibits:section",
    keys={
        "required": ["table"],
        "properties": {
            "table": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["group", "n", "share"],
                    "properties": {"share": {"$ref": "#/$defs/estimate"}},
                },
            }
        },
    },
)
