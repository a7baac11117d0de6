"""The record of `attribute_swap`: what everything else knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audits.attribute_swap.options import AttributeSwapOptions
from audits.records import Audit, OnPages, Size

if TYPE_CHECKING:
    from audits.data import AuditData

_ESTIMATE = {"$ref": "#/$defs/estimate"}
_NUMBERS = ("changed", "gained", "lost", "net", "mean_score_change")


def _usual(data: AuditData) -> dict[str, Any] | None:
    return {} if data.protected else None


def _seconds(options: AttributeSwapOptions, size: Size) -> float:
    """Everyone is scored once for every value, on the order of a model in memory."""
    return 2.0 + 2e-5 * size.rows * min(options.max_pairs, 20)


AUDIT = Audit(
    name="attribute_swap",
    title="Change one word",
    question="Whose decision changes when nothing but a protected attribute is changed?",
    also_called=(
        "counterfactualswap attributeflip fliptheattribute flip causaldiscrimination themis swap whatif "
        "changeoneword"
    ),
    then=("sensitivity", "flipset"),
    limits=(
        "It changes one word and nothing else: a person of another group would have lived another life, and "
        "columns related to the attribute stay as they are. If the model does not read the attribute, "
        "nothing changes, but other columns can still be proxies for it."
    ),
    options=AttributeSwapOptions,
    result="audits.attribute_swap.result:AttributeSwapResult",
    runs="audits.attribute_swap.audit:attribute_swap",
    presents="audits.attribute_swap.sections:section",
    says="audits.attribute_swap.text:headline",
    paired="audits.comparison.attribute_swap:compare",
    keys={
        "required": ["swaps"],
        "properties": {
            "swaps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["attribute", "from", "to", "group", "n", *_NUMBERS],
                    "properties": dict.fromkeys(_NUMBERS, _ESTIMATE),
                },
            }
        },
    },
    seconds=_seconds,
    usual=_usual,
    designs=True,
    decisions_alone=lambda *_: True,
    about_words=True,
    asks_anew=True,
    unplanned=(
        "It cannot be planned: it asks the model about people who are not in the data, so a difference of "
        "a known size cannot be planted in the predictions."
    ),
    pages=OnPages(
        does="Change nothing but the group",
        noun="attribute swaps",
        labels={
            "attribute": "Change",
            "together": "Change them all at once",
            "max_pairs": "Pairs of values",
            "text": "Column of text",
            "terms": "Identity terms",
        },
    ),
)
