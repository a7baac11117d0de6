from .bootstrap import RatioMeans, ratio_means
from .estimate import Estimate
from .intervals import largest_gap, newcombe, share_ratio, sign_balance, weighted_sum, wilson
from .permutation import benjamini_hochberg, holm, p_value
from .power import people_needed, power_of_difference
from .sampling import apportion, as_people, draw_counts
from .verdicts import (
    EVIDENCE,
    INSUFFICIENT,
    NO_MATERIAL,
    POWER,
    VERDICTS,
    Judged,
    Verdict,
    judge,
    judge_across,
    worst_of,
)

__all__ = [
    "EVIDENCE",
    "INSUFFICIENT",
    "NO_MATERIAL",
    "POWER",
    "VERDICTS",
    "Estimate",
    "Judged",
    "RatioMeans",
    "Verdict",
    "apportion",
    "as_people",
    "benjamini_hochberg",
    "draw_counts",
    "holm",
    "judge",
    "judge_across",
    "largest_gap",
    "newcombe",
    "p_value",
    "people_needed",
    "power_of_difference",
    "ratio_means",
    "share_ratio",
    "sign_balance",
    "weighted_sum",
    "wilson",
    "worst_of",
]
