"""What an auditor can choose about what explains a gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from audits.checks import Strict
from audits.options import Level, Material, MaterialAmount, MaterialOn, option


@dataclass(frozen=True, kw_only=True)
class ExplainOptions(Strict):
    """Options of the explain audit, as a spec names them; groups are named as a flipset audit's are."""

    # draws as before they were options
    later: ClassVar[dict[str, Any]] = {
        "material_on": "either",
        "attribution": False,
        "material_amount": "5%",
    }

    source: Annotated[dict[str, Any], option("The group asked about.")]
    target: Annotated[dict[str, Any], option("The group that it is compared with.")]
    explainers: Annotated[
        tuple[str, ...] | None,
        option(
            "Columns that may explain the gap. Only columns you name can clear it. Default: every feature "
            "that is not protected, immutable, an identifier, a row number or a leak."
        ),
    ] = None
    outcome: Annotated[
        Literal["decision", "label"],
        option("Which gap to explain: in the model's decisions, or in the labels."),
    ] = "decision"
    bins: Annotated[
        int, option("Number of levels into which a numeric column is cut.", unit="levels", ge=2, le=50)
    ] = 4
    attribution: Annotated[
        bool,
        option(
            "Also show which features of the model account for the gap in mean score, by Shapley values. "
            "This shows what the model uses, not what is justified."
        ),
    ] = False
    level: Level = 0.05
    material: Material = 0.10
    material_on: MaterialOn = "either"
    material_amount: MaterialAmount = "5%"
    draws: Annotated[
        int, option("Random draws for the simultaneous intervals of levels.", ge=200, le=20_000)
    ] = 4000
