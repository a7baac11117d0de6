"""What an auditor can choose in the outcome-transport audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

__all__ = ["OutcomeTransportOptions", "Policy"]

Share = Annotated[float, Field(gt=0, lt=1)]
Members = dict[str, Any] | Literal["rejected", "accepted"]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Another policy to hold the model against: exactly one of `score`, `label`, `train` and `path`.

    Attributes
    ----------
    score, label : str, optional
        A column of the data with scores on the model's scale, or with decisions, of which the data's
        favorable values are favourable.
    train : {"logistic", "mlp", "forest", "boosting"}, optional
        Another model, trained on the rows that the audited one was trained on here.
    path : str, optional
        Another model's ONNX file, relative to the spec file.
    higher_is : {"favorable", "unfavorable"}, optional
        Whether higher scores of the column are better or worse for the person; as of the audited model by
        default.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    score: str | None = None
    label: str | None = None
    train: Literal["logistic", "mlp", "forest", "boosting"] | None = None
    path: str | None = None
    higher_is: Literal["favorable", "unfavorable"] | None = None


@dataclass(frozen=True, kw_only=True)
class OutcomeTransportOptions:
    """Options of the outcome-transport audit, as a spec names them.

    Attributes
    ----------
    by : tuple of str, optional
        Protected attributes whose combinations are the groups; all of them by default.
    against : "label", "equal_opportunity" or Policy, optional
        Compare two policies on the same people: this reference, and the model. ``"label"`` is what happened;
        ``"equal_opportunity"`` the model with a threshold for each group that equalises true positive rates.
        The default where no source and target are given.
    source, target : dict, "rejected" or "accepted"
        Compare one policy on two groups of people: a protected attribute and its value each, as in the
        flipset audit, or the people the model rejects and accepts.
    outcome : {"automatic", "decision", "probability", "score", "classes"}
        What is compared: decisions (0 and 1), favourable probabilities, scores on any scale, or the vector of
        class probabilities. Automatic: decisions against labels (numbers where the model predicts the number
        that the label is cut from) and equal opportunity; otherwise classes where the model has more than
        two, probabilities or scores where it gives them, else decisions.
    cost : {"euclidean", "squared_euclidean"}
        Cost between two outcomes: the unsquared norm of Eq. 10 (Wasserstein distance of order 1), or its
        square (order 2). A binary outcome or probability p is the vector (p, 1 - p), so that its norm is
        √2 |p - q|.
    distance : {"l2", "l1", "l2_squared", "l1_squared"}
        Distance between two people, in standardised features.
    features : {"all", "actionable", "mutable", "immutable"}
        Features that distance is taken over.
    split_by : {"outcome", "label", "prediction", "none"}
        What splits groups into subgroups: each side's own outcome (favourable or not; the likeliest class),
        the label, or the model's decision.
    matching : {"automatic", "exact", "entropic", "unbalanced", "partial"}
        How outcomes are coupled. Automatic: exact, but entropic for more than 10,000 different outcome
        vectors on a side. Unbalanced and partial leave people unmatched (section 6).
    share : float
        Share of people that partial matching matches.
    price : float
        Price of leaving people unmatched, as a multiple of the mean cost of pairing at random (unbalanced).
    epsilon : float
        Blur of the entropic, unbalanced and partial coupling, as a share of that mean cost.
    level : float
        Error rate of intervals and verdict.
    material : float
        Smallest difference that matters to the auditor: of outcomes (in standard deviations where they are
        scores of any scale), and of a group's bias as a share of the mean bias.
    permutations : int
        Permutations behind each p-value; 0 leaves them out.
    draws : int
        Bootstrap draws behind the intervals; 0 leaves them out.
    max_people : int
        People of each side at most; of larger sides so many are drawn, and 20,000 for a blurred coupling of
        anything but decisions. Bias over each role's features is a mean of fewer people than that where there
        are more than 200 million distances, and says of how many.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    by: tuple[str, ...] | None = None
    against: Literal["label", "equal_opportunity"] | Policy | None = None
    source: Members | None = None
    target: Members | None = None
    outcome: Literal["automatic", "decision", "probability", "score", "classes"] = "automatic"
    cost: Literal["euclidean", "squared_euclidean"] = "euclidean"
    distance: Literal["l2", "l1", "l2_squared", "l1_squared"] = "l2"
    features: Literal["all", "actionable", "mutable", "immutable"] = "all"
    split_by: Literal["outcome", "label", "prediction", "none"] = "outcome"
    matching: Literal["automatic", "exact", "entropic", "unbalanced", "partial"] = "automatic"
    share: Annotated[float, Field(gt=0, le=1)] = 0.9
    price: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    epsilon: Annotated[float, Field(ge=1e-5, le=1e3)] = 0.02
    level: Share = 0.05
    material: Share = 0.10
    permutations: Annotated[int, Field(ge=0, le=9999)] = 199
    draws: Annotated[int, Field(ge=0, le=9999)] = 200
    max_people: Annotated[int, Field(ge=2)] = 50_000

    def paths(self) -> dict[str, str]:
        """Return the files that the options name, by key."""
        path = self.against.path if isinstance(self.against, Policy) else None
        return {} if path is None else {"against.path": path}
