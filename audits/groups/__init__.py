"""Group metrics: how the groups of each protected attribute, and their intersections, compare at all.

The reference that all five methods papers measure themselves against: selection rate, error rates,
precision, accuracy, calibration, impact ratio (four-fifths rule, 29 CFR 1607.4 D), demographic parity
(Dwork et al. 2012), equal opportunity and equalised odds (Hardt, Price, Srebro 2016) and average odds
(Bellamy et al. 2018). Values follow fairlearn's and scikit-learn's definitions; every one has an interval.
A difference excludes 0 only if Fisher's exact test does too: a handful of people would else differ too often.

"Positive" always means favourable for the person: a true positive rate is the share of people with a
favourable label who are decided favourably.
"""

from audits.groups.changing import at_threshold, beside
from audits.groups.groups import groups, groups_audit, most_telling
from audits.groups.ll144 import BiasTable, bias_tables
from audits.groups.metrics import METRICS, Counts, confusion_counts, rates
from audits.groups.options import GroupsOptions
from audits.groups.result import Calibration, Difference, GroupRow, GroupsResult, Spread

__all__ = [
    "METRICS",
    "BiasTable",
    "Calibration",
    "Counts",
    "Difference",
    "GroupRow",
    "GroupsOptions",
    "GroupsResult",
    "Spread",
    "at_threshold",
    "beside",
    "bias_tables",
    "confusion_counts",
    "groups",
    "groups_audit",
    "most_telling",
    "rates",
]
