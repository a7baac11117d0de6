"""The record of `explain`: what everything else knows of it."""

from __future__ import annotations

from audits.explain.options import ExplainOptions
from audits.records import Audit, OnPages, Size


def _seconds(options: ExplainOptions, size: Size) -> float:
    """Learning outcome and membership by fold, after training where a model is trained here."""
    columns = len(options.explainers or ()) or min(size.width, 40)
    attribution = 2.0 + 2e-6 * 400_000 * size.width if options.attribution else 0.0
    return 0.5 + size.start_seconds + 6e-5 * columns * size.rows + attribution


AUDIT = Audit(
    name="explain",
    title="What explains it",
    question="Does the gap between two groups remain like for like?",
    also_called="shapley shap attribution featureimportance decomposition oaxaca blinder kitagawa",
    then=("flipset", "rule_sets"),
    limits=(
        "“Explained” is arithmetic, not cause: a column can itself result from unequal treatment, or be a "
        "proxy for the group. What was not measured explains nothing here. A feature's part of a gap in "
        "scores shows what the model uses, not what is justified. Correlated features share it by "
        "convention. Where the group and the decision both change abruptly at the same combination of values "
        "in two columns, part of the gap stays unexplained: a difference is found in about 10% of such data "
        "where there is none."
    ),
    options=ExplainOptions,
    result="audits.explain.result:ExplainResult",
    runs="audits.explain.audit:explain",
    paired="audits.comparison.explain:compare",
    handles_missing_labels=True,
    decisions_alone=lambda options, _: options.outcome == "decision",
    compares="audits.explain.audit:filled_explainers",
    keys="audits.explain:keys.json",
    presents="audits.explain.sections:section",
    says="audits.explain.text:headline",
    seconds=_seconds,
    designs=True,
    numeric=True,
    pages=OnPages(
        does="See what explains the gap",
        labels={
            "explainers": "May explain it",
            "outcome": "The gap of",
            "bins": "Levels of a number",
            "draws": "Draws for simultaneous intervals",
            "attribution": "Which features account for it (Shapley)",
        },
        former_choices={"material-amount": "with-material_amount"},
    ),
)
