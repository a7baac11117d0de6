"""The record of `recourse`: what everything else knows of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from audits.records import Audit, OnPages, Size
from audits.recourse.options import RecourseOptions

if TYPE_CHECKING:
    from audits.data import AuditData

_GROWS = re.compile(
    r"(?:^|[^a-z])(?:age|years?|yrs|months?|tenure|experience|seniority|education[a-z]*|degrees?|qualification[a-z]*"
    r"|schooling|diploma|alter|jahre|monate|dauer|[a-z]*zugehörigkeit|ausbildung|bildung|abschluss|âge|années|mois"
    r"|ancienneté|diplôme|edad|años|meses|antigüedad|educación)(?:[^a-z]|$)"
)


def only_grows(column: str) -> bool:
    """Whether a column's name says that a person's value can only rise: age, years, degrees."""
    return _GROWS.search(column.lower()) is not None


def _seconds(options: RecourseOptions, size: Size) -> float:
    """Measured on two cores: rows scored at every α, which dominate."""
    ways = (0.02 * options.ways_people + 0.5 * options.refits) * (options.ways > 0)
    return size.start_seconds + 0.004 * min(options.max_people, size.rows) + ways


def _usual(data: AuditData) -> dict[str, Any] | None:
    """Where some column has the role ``actionable``."""
    actionable = [name for name in data.features if data.roles.get(name) == "actionable"]
    if not actionable or not data.protected:
        return None
    scaled = {"continuous", "integer", "boolean", "ordinal", "datetime"}
    grow = [name for name in actionable if data.kinds[name] in scaled and only_grows(name)]
    limits = {"limits": {name: {"direction": "up"} for name in grow}} if grow else {}
    return {"actionable": actionable, "by": list(data.protected[:1]), **limits}


AUDIT = Audit(
    name="recourse",
    title="Recourse",
    question="What could people change, and does one group have further to go?",
    also_called="dice actionablerecourse counterfactualexplanations explanations",
    then=("flipset", "groups"),
    limits=(
        "The way to a counterpart is a direction in the data, not advice. A change may not be possible in "
        "real life, it can change other things, and the model may be retrained. Costs are "
        "standard deviations and category changes unless weights say otherwise."
    ),
    options=RecourseOptions,
    result="audits.recourse.result:RecourseResult",
    runs="audits.recourse.audit:recourse",
    paired="audits.comparison.recourse:compare",
    decisions_alone=lambda *_: True,
    compares=lambda _, subject: subject.unseen_fills,
    keys="audits.recourse:keys.json",
    says="audits.recourse.text:headline",
    distances=True,
    presents="audits.recourse.sections:section",
    seconds=_seconds,
    usual=_usual,
    asks_anew=True,
    unplanned=(
        "It cannot be planned: it asks the model about people who are not in the data, so a difference of "
        "a known size cannot be planted in the predictions."
    ),
    pages=OnPages(
        former_choices={
            "fewest": "with-fewest",
            "interpolation": "with-interpolation",
            "ways": "with-ways",
            "ways-people": "with-ways_people",
            "ways-refits": "with-refits",
            "ways-noise": "with-noise",
        },
        does="See what people could change",
        labels={
            "actionable": "A person can change",
            "roles.actionable": "A person can change",
            "by": "Groups by",
            "limits": "Limits and costs",
            "cost_weights": "Limits and costs",
            "follows": "Columns that follow others",
            "refits": "Retrained models",
            "fewest": "Find the fewest changes",
            "interpolation": "On the way people have",
            "ways": "Alternatives for each person",
            "ways_people": "People with alternatives",
            "noise": "Noise in changed numbers",
            "max_people": "Declined people followed",
        },
        alone=("preset",),
        selected={
            "alpha": "part of the way to be accepted",
            "alpha missing": "accepted at no step",
            "fewest missing": "accepted by no set of columns tried",
            "alpha at_most": "accepted within {percent:g}% of the way",
        },
    ),
)
