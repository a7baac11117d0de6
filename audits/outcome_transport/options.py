"""What an auditor can choose in the outcome-transport audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from audits.checks import Strict
from audits.options import Level, MaterialOn, Permutations, option

Trained = Literal["logistic", "mlp", "forest", "boosting"]
Members = dict[str, Any] | Literal["rejected", "accepted"]


@dataclass(frozen=True, kw_only=True)
class Policy(Strict):
    """Another policy to hold the model against: `score`, `label`, `train`, `path`, or train and label."""

    score: Annotated[
        str | None, option("Column with scores on the model's scale (probabilities: in [0, 1]).")
    ] = None
    label: Annotated[
        str | None,
        option("Column with decisions, or for `train` to learn. Its favorable values are those of the data."),
    ] = None
    train: Annotated[
        Trained | None,
        option(
            "Another model to train on the same rows as the audited one. With a label, it learns that "
            "column instead; this also works if the audited model is a column of predictions."
        ),
    ] = None
    constraint: Annotated[
        Literal["equal_opportunity"] | None,
        option(
            "Constraint on `train: logistic`: among people with a favorable label, its score is not "
            "correlated with any group of `by` (covariance 0, as in Zafar et al.)."
        ),
    ] = None
    path: Annotated[
        str | None,
        option("Another model's ONNX file, relative to the spec file; it must read the same features."),
    ] = None
    higher_is: Annotated[
        Literal["favorable", "unfavorable"] | None,
        option(
            "Whether higher scores in the column are better for the person; by default as for the audited"
            " scores."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OutcomeTransportOptions(Strict):
    """Options of the outcome-transport audit, as a spec names them.

    Notes
    -----
    Compared are two policies on the same people (`against`), or one policy on two groups of people (`source`
    and `target`). The cost is the unsquared norm of Eq. 10 (Wasserstein distance of order 1), or its square
    (order 2); a binary outcome or probability p is the vector (p, 1 - p), so that its norm is √2 |p - q|.
    """

    later: ClassVar[dict[str, str]] = {"material_on": "either"}  # draws as before it was an option

    by: Annotated[
        tuple[str, ...] | None,
        option("Protected attributes whose combinations are the groups; by default all."),
    ] = None
    against: Annotated[
        Literal["label", "equal_opportunity"] | Policy | None,
        option(
            "What to compare the model with, on the same people: what happened (label, the default); the "
            "same model with thresholds by group that equalize true positive rates (equal_opportunity); "
            "or another model."
        ),
    ] = None
    source: Annotated[
        Members | None,
        option("People whose outcomes are mapped: protected attributes with one value each, or rejected."),
    ] = None
    target: Annotated[
        Members | None,
        option(
            "People to whose outcomes they are mapped: protected attributes with one value each, or accepted."
        ),
    ] = None
    outcome: Annotated[
        Literal["automatic", "decision", "probability", "score", "classes"],
        option(
            "What to compare. Automatic: against labels or equal opportunity, decisions (or numbers, if "
            "the model predicts the number from which the label is cut). Otherwise the first that "
            "applies: more than two classes; probabilities, if the model gives them or all scores lie in "
            "[0, 1]; other scores; decisions."
        ),
    ] = "automatic"
    cost: Annotated[
        Literal["euclidean", "squared_euclidean"],
        option("Cost between two outcomes: the norm (order 1, the paper's), or its square (order 2)."),
    ] = "euclidean"
    distance: Annotated[
        Literal["l2", "l1", "l2_squared", "l1_squared"],
        option("Distance between two people, in standardized features."),
    ] = "l2"
    features: Annotated[
        Literal["all", "actionable", "mutable", "immutable"],
        option("Features used in the distance: all, or those of one role."),
    ] = "all"
    split_by: Annotated[
        Literal["outcome", "label", "prediction", "none"],
        option("What splits groups into subgroups: each side's own outcome, the label, or the decision."),
    ] = "outcome"
    matching: Annotated[
        Literal["automatic", "exact", "entropic", "unbalanced", "partial"],
        option(
            "How outcomes are coupled. Automatic: exact, or entropic for more than 10,000 different "
            "outcome vectors on a side. Unbalanced and partial leave people unmatched."
        ),
    ] = "automatic"
    share: Annotated[
        float, option("Share of people that partial matching matches.", unit="as a share", gt=0, le=1)
    ] = 0.9
    price: Annotated[
        float,
        option(
            "Price of leaving someone unmatched (unbalanced).",
            unit="mean costs of pairing at random",
            gt=0,
            le=1e6,
        ),
    ] = 1.0
    epsilon: Annotated[
        float,
        option(
            "Blur of the entropic, unbalanced and partial coupling.",
            unit="mean costs of pairing at random",
            ge=1e-5,
            le=1e3,
        ),
    ] = 0.02
    level: Level = 0.05
    material: Annotated[
        float,
        option(
            "Smallest difference that matters: in outcomes (in standard deviations if they are scores on "
            "any scale), and in a group's bias as a share of the mean bias.",
            unit="as a share",
            gt=0,
            lt=1,
        ),
    ] = 0.10
    material_on: MaterialOn = "either"
    permutations: Permutations = 239
    draws: Annotated[int, option("Bootstrap draws for the intervals; 0 for none.", ge=0, le=9999)] = 200
    max_people: Annotated[
        int,
        option(
            "Largest number of people on each side; larger sides are sampled. At most 20,000 for a "
            "blurred coupling of anything but decisions.",
            unit="people",
            ge=2,
        ),
    ] = 50_000

    def paths(self) -> dict[str, str]:
        """Return the files that the options name, by key."""
        path = self.against.path if isinstance(self.against, Policy) else None
        return {} if path is None else {"against.path": path}
