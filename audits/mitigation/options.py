"""What an auditor can choose in a mitigation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from audits.options import Level, Material, MaterialOn, option
from audits.subgroups.options import Amount, Depth, Protected, Support, Terms, Text

__all__ = ["MitigationOptions"]


@dataclass(frozen=True, kw_only=True)
class MitigationOptions:
    """Options of the mitigation, as a spec names them.

    Those shared with the rule-set audit decide which group is the worst. A model of words is treated for
    identity terms in the text it reads, whether or not `text` names it.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    later: ClassVar[dict[str, str]] = {"material_on": "either"}  # draws as before it was an option

    protected: Protected = None
    support: Support = 0.05
    bins: Annotated[Amount, option("Bins of a continuous attribute.", unit="bins")] = 10
    depth: Depth = None
    text: Text = None
    terms: Terms = None
    amounts: Annotated[
        tuple[Annotated[float, Field(gt=0, le=1)], ...],
        option("Samples added, as shares of the training rows; the smallest amount is 50 people."),
    ] = (0.01, 0.03, 0.1)
    also: Annotated[
        dict[str, dict[str, Any]] | None,
        option(
            "Other audits to run before and after, by name with their options; by default all that need no "
            "choice on these data."
        ),
    ] = None
    level: Level = 0.05
    material: Material = 0.10
    material_on: MaterialOn = "either"
