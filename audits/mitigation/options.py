"""What an auditor can choose in a mitigation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from audits.checks import Strict
from audits.options import Level, Material, MaterialOn, option
from audits.subgroups.options import Amount, Depth, Protected, Support, Terms, Text

SPLITS = 5
"""Splits of the people into training rows and held-out ones; the first is the run's own."""

Method = Literal["thresholds", "reweighing", "reductions", "retraining"]


@dataclass(frozen=True, kw_only=True)
class MitigationOptions(Strict):
    """Options of the mitigation, as a spec names them.

    Those shared with the rule-set audit decide which group is the worst. A model of words is treated for
    identity terms in the text it reads, whether or not `text` names it.
    """

    later: ClassVar[dict[str, Any]] = {  # draws as before they were options
        "material_on": "either",
        "methods": ["thresholds", "reweighing", "retraining"],
        "by": None,
        "measure": "selection_rate",
        "accuracy_lost": 0.01,
    }
    # the same treatment, however it is judged and whatever runs beside it, draws the same samples
    seed_ignores: ClassVar[dict[str, Any]] = {**later, "also": None, "level": 0.05, "material": 0.10}

    protected: Protected = None
    support: Support = 0.05
    bins: Annotated[Amount, option("Number of bins for a continuous attribute.", unit="bins")] = 10
    depth: Depth = None
    text: Text = None
    terms: Terms = None
    amounts: Annotated[
        tuple[Annotated[float, Field(gt=0, le=1)], ...],
        option("How many samples to add, as shares of the training rows; at least 50 people."),
    ] = (0.01, 0.03, 0.1)
    also: Annotated[
        dict[str, dict[str, Any]] | None,
        option(
            "Other audits to run before and after, by name with their options. Default: all that need no "
            "choice for these data."
        ),
    ] = None
    methods: Annotated[
        tuple[Method, ...],
        option(
            "Methods to compare on the frontier of accuracy and gap: thresholds by group, reweighing, and"
            " the retraining above. Reductions (of a logistic regression) only if you name them."
        ),
    ] = ("thresholds", "reweighing", "retraining")
    by: Annotated[
        str | None,
        option("Protected attribute whose groups the frontier compares; by default the first that has two."),
    ] = None
    measure: Annotated[
        Literal["selection_rate", "true_positive_rate", "false_positive_rate"],
        option("Rate for the gap of the frontier, which is its largest difference between two groups."),
    ] = "selection_rate"
    accuracy_lost: Annotated[
        float,
        option(
            "Largest loss of accuracy allowed for the point chosen on the frontier.",
            unit="as a share",
            ge=0,
            le=1,
        ),
    ] = 0.01
    level: Level = 0.05
    material: Material = 0.10
    material_on: MaterialOn = "either"
