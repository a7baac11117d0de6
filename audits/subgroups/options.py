"""What an auditor can choose of rules and of the search for groups, for every audit that mines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from audits.checks import Strict
from audits.options import option

Edges = tuple[Annotated[float, Field(allow_inf_nan=False)], ...]
Amount = Annotated[int, Field(ge=2, le=100)]

Protected = Annotated[
    tuple[str, ...] | None,
    option("Protected attributes that rules may use; by default all."),
]
Text = Annotated[
    str | None,
    option("Text column. Rules then say which identity term a text contains, and attributes are not used."),
]
Terms = Annotated[
    dict[str, tuple[str, ...]] | None,
    option("Identity terms by category; by default the 48 terms in 4 categories of the paper's Table 1."),
]
Support = Annotated[
    float,
    option("Smallest share of people that a group must have (the paper's θ).", unit="as a share", gt=0, le=1),
]
Depth = Annotated[
    Annotated[int, Field(ge=1)] | None,
    option("Largest number of rules in a rule set; by default any number.", unit="rules"),
]
Bins = Annotated[
    Amount | dict[str, Amount | Edges],
    option(
        "Number of bins of a continuous attribute (the paper's K), for all or by attribute; or the "
        "edges. Bins set in the data take precedence."
    ),
]


@dataclass(frozen=True, kw_only=True)
class RuleOptions(Strict):
    """Options of rules and of the groups that they make."""

    protected: Protected = None
    text: Text = None
    terms: Terms = None
    context: Annotated[
        tuple[str, ...],
        option(
            "Ordinary columns that may narrow a group further; each rule set keeps at least one protected "
            "rule."
        ),
    ] = ()
    support: Support = 0.05
    bins: Bins = 10
    binning: Annotated[
        Literal["width", "quantile"],
        option("Bins of equal width, as in the paper, or with about the same number of people (quantile)."),
    ] = "width"
    categories: Annotated[
        Literal["subsets", "values"],
        option(
            "Rules on a category: every proper subset of its values, as in the paper, or single values only."
        ),
    ] = "subsets"
    intervals: Annotated[
        Literal["runs", "thresholds", "bins"],
        option(
            "Rules on bins: every run of adjacent bins, as in the paper; one-sided thresholds; or single "
            "bins."
        ),
    ] = "runs"
    depth: Depth = None
