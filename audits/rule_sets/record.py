"""The record of `rule_sets`: what everything else knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from audits.checks import build
from audits.errors import not_counted
from audits.records import Audit, OnPages, Size
from audits.rule_sets.options import RuleSetsOptions

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from audits.data import AuditData, DataSpec
    from audits.data.groupby import Asked

_MAX_SUBSETS = 12  # values of which all subsets are rules


def _seconds(options: RuleSetsOptions, size: Size) -> float:
    """Every rule set is summed in every shuffle; texts are made and scored."""
    start = 0.5 + size.start_seconds
    if options.text is not None:
        return start + 12.0
    rule_sets = 1.0
    for name in size.groups if options.protected is None else options.protected:
        values = len(size.groups.get(name, {})) or 2
        rule_sets *= 1 + (2**values - 2 if 1 < values <= _MAX_SUBSETS else values)
    counted = min(rule_sets, options.max_candidates)
    return start + counted * (1e-6 + 1.4e-8 * options.permutations) * (1 + 0.3 * len(options.measures))


def _columns_to_count(options: RuleSetsOptions, data: DataSpec) -> dict[str, Asked]:
    """A protected attribute's groups come from the data; numbers of a context are cut by the options."""
    from audits.data.groupby import Quantiles  # late: a record loads nothing but its options

    if options.text is not None:
        raise not_counted("rule_sets.text")
    if options.measures:
        raise not_counted("rule_sets.measures")
    asked: dict[str, Asked] = {}
    for name in (*(data.protected if options.protected is None else options.protected), *options.context):
        bins = options.bins.get(name, 10) if isinstance(options.bins, dict) else options.bins
        if isinstance(bins, tuple) or name not in data.bins:
            asked[name] = bins if isinstance(bins, tuple) or options.binning == "width" else Quantiles(bins)
    return asked


def _candidates(data: AuditData, options: Mapping[str, Any]) -> int:
    """How many rule sets these options make of the data."""
    from audits.rule_sets.audit import count_candidates  # late, as above

    return count_candidates(data, build(RuleSetsOptions, options, "rule_sets"))


def _differences(data: AuditData, rows: np.ndarray, inside: np.ndarray, columns: list[str]) -> pd.DataFrame:
    """How those of some rows who are inside differ from the others, column by column."""
    from audits.rule_sets.leaders.query import profile

    return profile(data.frame.loc[rows], inside, columns)


AUDIT = Audit(
    name="rule_sets",
    title="Rule sets",
    question="Which hidden intersection of groups gets different decisions from everyone else?",
    also_called=(
        "subgroups subgroup intersectional intersections slices slicefinder gerryfair testsgd ruleset"
    ),
    then=("flipset", "recourse"),
    limits=(
        "A rule set describes people; it is not a cause. The rule that names a group need not be what the "
        "model uses. A score compares a group with everyone else together, so a group can differ because "
        "others do. Groups smaller than the support were not searched."
    ),
    options=RuleSetsOptions,
    result="audits.rule_sets.result:RuleSetsResult",
    runs="audits.rule_sets.audit:rule_sets",
    paired="audits.comparison.rule_sets:compare",
    handles_missing_labels=True,
    decisions_alone=lambda options, _: not options.measures,
    compares=lambda options, subject: [name for name in subject.unseen_fills if name in options.context],
    keys="audits.rule_sets:keys.json",
    says="audits.rule_sets.text:headline",
    presents="audits.rule_sets.sections:section",
    counted=_columns_to_count,
    seconds=_seconds,
    usual=lambda data: {} if data.protected else None,
    searches="audits.rule_sets.options:search_options",
    about_words=True,
    groups_alone=True,
    windows=lambda _: {},
    pages=OnPages(
        does="Search all small groups",
        labels={
            "protected": "Attributes",
            "support": "Smallest group (share of people)",
            "text": "Rules on",
            "terms": "Identity terms",
            "measures": "Errors to compare, too",
            "context": "Narrow groups further by",
            "depth": "Rules in a group, at most",
        },
        asks={
            "candidates": _candidates,
            "differences": _differences,
        },
    ),
)
