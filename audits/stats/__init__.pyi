from .base_result import BaseResult
from .bootstrap import RatioMeans, ratio_means
from .estimate import Estimate
from .intervals import largest_gap, newcombe, share_ratio, sign_balance, weighted_sum, wilson
from .permutation import benjamini_hochberg, holm, p_value
from .sampling import apportion, as_people, draw_counts
from .verdicts import (
    AVERAGE,
    BADGES,
    EVIDENCE,
    INSUFFICIENT,
    NO_MATERIAL,
    POWER,
    VERDICTS,
    Badge,
    Condition,
    Judgment,
    Verdict,
    judge,
    judge_across,
    judge_conditions,
    limit_of,
    worst_of,
)

__all__ = [
    "AVERAGE",
    "BADGES",
    "EVIDENCE",
    "INSUFFICIENT",
    "NO_MATERIAL",
    "POWER",
    "VERDICTS",
    "Badge",
    "BaseResult",
    "Condition",
    "Estimate",
    "Judgment",
    "RatioMeans",
    "Verdict",
    "apportion",
    "as_people",
    "benjamini_hochberg",
    "draw_counts",
    "holm",
    "judge",
    "judge_across",
    "judge_conditions",
    "largest_gap",
    "limit_of",
    "newcombe",
    "p_value",
    "ratio_means",
    "share_ratio",
    "sign_balance",
    "weighted_sum",
    "wilson",
    "worst_of",
]
