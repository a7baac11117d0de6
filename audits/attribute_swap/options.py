"""What an auditor can choose when one word is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from audits.checks import Strict
from audits.options import Level, Material, MaterialOn, option
from audits.subgroups.options import Terms


@dataclass(frozen=True, kw_only=True)
class AttributeSwapOptions(Strict):
    """Options of the audit, as a spec names them."""

    later: ClassVar[dict[str, str]] = {"material_on": "either"}  # draws as before it was an option

    attribute: Annotated[
        str | tuple[str, ...] | None,
        option("Protected attributes to change; by default all. For texts: categories of identity terms."),
    ] = None
    together: Annotated[
        bool, option("Change all attributes at once: each person gets every other combination of values.")
    ] = False
    max_pairs: Annotated[
        int,
        option(
            "Largest number of pairs of values to compare, largest groups first.", unit="pairs", ge=1, le=1000
        ),
    ] = 20
    text: Annotated[
        str | None,
        option(
            "Text column in which identity terms are exchanged; by default the only one that the model reads."
        ),
    ] = None
    terms: Terms = None
    level: Level = 0.05
    material: Material = 0.10
    material_on: MaterialOn = "either"
