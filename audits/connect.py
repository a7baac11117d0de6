"""To and from the tools that a model's makers use already: Fairlearn, scikit-learn's scorers, MLflow.

None of them is needed by anything else here; each is imported where it is asked for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from audits.aliases import metric_name
from audits.checks import choices, one_of
from audits.errors import InputError, is_installed, not_installed

if TYPE_CHECKING:
    from fairlearn.metrics import MetricFrame

    from audits.findings import Findings
    from audits.runs.result import RunResult

Across = Literal["difference", "ratio", "minimum"]


def to_metricframe(
    found: Findings,
    metrics: Callable[..., float] | Mapping[str, Callable[..., float]] | None = None,
    *,
    by: str | list[str] | None = None,
) -> MetricFrame:
    """Return Fairlearn's MetricFrame of the people that were audited, with their labels and decisions.

    Parameters
    ----------
    found : Findings
        What ``evenhand.audit`` returned.
    metrics : callable or mapping, optional
        As MetricFrame takes them; selection rate, and with labels accuracy and the rates of true and false
        positives, if left out. Labels and decisions are 1 where favorable.
    by : str or list of str, optional
        Protected attributes; all that the audit was given if left out.

    Raises
    ------
    InputError
        If Fairlearn is missing, an attribute is unknown, or a metric needs labels that the data lack.
    """
    fairlearn = _import("fairlearn.metrics", "metrics")
    if found.subject is None:
        raise InputError("found", "was loaded and holds no people", advice="run evenhand.audit once more")
    data = found.subject.data
    known = list(data.protected)
    names = known if by is None else [by] if isinstance(by, str) else list(by)
    for name in names:
        one_of("by", name, known, what="a protected attribute of the audit")
    if data.y is None and metrics is not None:
        raise InputError("found", "has no labels, which metrics compare with", advice="audit with y=")
    usual: dict[str, Callable[..., float]] = {"selection_rate": fairlearn.selection_rate}
    if data.y is not None:
        usual |= {
            "accuracy": lambda y, d, **weight: float(np.average(y == d, weights=weight.get("sample_weight"))),
            "true_positive_rate": fairlearn.true_positive_rate,
            "false_positive_rate": fairlearn.false_positive_rate,
        }
    asked = usual if metrics is None else metrics
    decision = found.subject.decisions.astype(int)
    label = decision if data.y is None else data.y.astype(int)
    weights = {} if data.weights is None else {"sample_weight": data.weights}
    params: Any = weights if callable(asked) else dict.fromkeys(asked, weights)
    return fairlearn.MetricFrame(
        metrics=asked,
        y_true=label,
        y_pred=decision,
        sensitive_features=data.groups[names].astype(str).reset_index(drop=True),
        sample_params=params,
    )


def from_metricframe(
    frame: object = None,
    /,
    *,
    y_true: Any = None,
    y_pred: Any = None,
    sensitive_features: Any = None,
    favorable: Any = 1,
    sample_params: Mapping[str, Any] | None = None,
    **options: Any,
) -> Findings:
    """Audit what a MetricFrame is made from: the frame itself keeps its numbers and nobody's row.

    Parameters
    ----------
    frame : MetricFrame
        Refused, with what to give instead.
    y_true, y_pred : arrays (n,)
        Labels, if there are any, and decisions.
    sensitive_features : array, Series, DataFrame or mapping
        One attribute or several, as a MetricFrame takes them.
    favorable : value
        The label that is good for the person.
    sample_params : mapping, optional
        ``{"sample_weight": counts}``: how many people a row stands for.
    **options
        Of the comparison of groups, as in a spec: ``level=0.1``.

    Raises
    ------
    InputError
        If decisions or groups are missing, or do not fit.
    """
    from audits.notebook import audit

    if frame is not None or y_pred is None or sensitive_features is None:
        where = "y_pred and sensitive_features" if frame is None else "a MetricFrame"
        rule = "must be given" if frame is None else "holds rates, and no rows of people"
        advice = "give what it was made from: y_true=…, y_pred=…, sensitive_features=…"
        raise InputError(where, rule, advice=advice)

    if isinstance(sensitive_features, pd.DataFrame):
        groups: Any = sensitive_features.reset_index(drop=True)
    elif isinstance(sensitive_features, Mapping):
        groups = dict(sensitive_features)
    else:
        name = getattr(sensitive_features, "name", None) or "sensitive_feature_0"
        groups = {str(name): np.asarray(sensitive_features)}
    weights = (sample_params or {}).get("sample_weight")
    people = pd.DataFrame(index=range(len(np.asarray(y_pred))))
    people["decision"] = np.asarray(y_pred)
    return audit(
        None,
        people,
        None if y_true is None else np.asarray(y_true),
        favorable=favorable,
        protected=groups,
        predictions="decision",
        weights=None if weights is None else np.asarray(weights),
        audits={"groups": options},
    )


def scorer(metric: str = "selection_rate", across: Across = "difference", *, favorable: Any = 1) -> Any:
    """Return a scikit-learn scorer of how far groups lie apart, for `cross_validate` and searches.

    Groups travel by metadata routing, as ``params={"sensitive_features": …}``: call
    ``sklearn.set_config(enable_metadata_routing=True)`` first.

    Parameters
    ----------
    metric : str
        A rate of the table of group metrics: ``"selection_rate"``, ``"true_positive_rate"``, …
    across : {"difference", "ratio", "minimum"}
        Largest minus smallest rate (lower is better, so its sign is turned, as scikit-learn does), smallest
        by largest, or the smallest. Groups of which the rate is not defined are left out.
    favorable : value
        The label that is good for the person.

    Raises
    ------
    InputError
        If there is no such rate or comparison, or no scikit-learn; when scoring, if no groups are given, if
        fewer than two have the rate, or if `favorable` is none of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn import config_context
    >>> from sklearn.dummy import DummyClassifier
    >>> rule = DummyClassifier(strategy="constant", constant=1).fit([[0], [1]], [0, 1])
    >>> labels, groups = np.array([1, 1, 1, 0]), ["a", "a", "b", "b"]
    >>> with config_context(enable_metadata_routing=True):
    ...     scorer("accuracy")(rule, [[0]] * 4, labels, sensitive_features=groups)
    -0.5
    """
    if not is_installed("sklearn"):
        raise not_installed("scorer", "sklearn")
    from sklearn import config_context
    from sklearn.metrics import make_scorer

    from audits.groups.metrics import METRICS, Labels, confusion_counts, rates

    known = [each.name for each in METRICS if each.share]
    if metric not in known and metric_name(metric) in known:
        raise InputError("metric", "must be a rate of groups", metric, f"write {metric_name(metric)!r}")
    one_of("metric", metric, known, what="a rate of groups")
    one_of("across", across, ("difference", "ratio", "minimum"))

    def score(
        y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> float:
        if sensitive_features is None:
            advice = "give params={'sensitive_features': …}"
            raise InputError("sensitive_features", "must give everybody's group", advice=advice)
        labels = sorted({*np.asarray(y_true).tolist(), *np.asarray(y_pred).tolist()}, key=str)
        if favorable not in labels and len(labels) > 1:  # of one value alone it may be the other
            raise InputError("favorable", "must be a label", favorable, f"choose {choices(labels)}")
        codes, names = pd.factorize(_group_labels(sensitive_features))
        sizes = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        decided, true = (np.asarray(values) == favorable for values in (y_pred, y_true))
        labeled = Labels(true, np.ones(len(true), dtype=bool))
        hits, people = rates(confusion_counts(codes, decided, labeled, sizes, len(names)))[metric]
        found = (hits[people > 0] / people[people > 0]).tolist()
        if len(found) < 2:
            raise InputError(
                "sensitive_features", f"must have two groups whose {metric} is defined", list(names)
            )
        if across == "minimum":
            return float(min(found))
        if across == "ratio":
            return float(min(found) / max(found)) if max(found) else float("nan")
        return float(max(found) - min(found))

    with config_context(enable_metadata_routing=True):
        return make_scorer(score, greater_is_better=across != "difference").set_score_request(
            sensitive_features=True
        )


def log_to_mlflow(found: RunResult) -> None:
    """Log a run to MLflow's active run (it starts one where there is none).

    The report, results.json, all tables and figures become artefacts under ``evenhand``; of each audit the
    interval that its verdict follows from becomes metrics (``evenhand.groups``, ``….low``, ``….high``,
    ``….p_value``), verdict and first sentence tags. With ``audits`` counted together, as everywhere.
    """
    mlflow = _import("mlflow", "found")
    from audits.reports.html import render_report
    from audits.runs.result import Figures

    across = [each.verdict for each in found.across()]
    for each, together in zip(found.audits, across, strict=True):
        head = each.to_json()
        name = f"evenhand.{each.name}"
        numbers = {"": head["interval"]["value"], ".low": head["interval"]["low"],
                   ".high": head["interval"]["high"], ".p_value": head["p_value"]}  # fmt: skip
        mlflow.log_metrics({f"{name}{key}": value for key, value in numbers.items() if value is not None})
        mlflow.set_tags({f"{name}.verdict": together, f"{name}.finding": head["headline"]})
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "report.html").write_text(render_report(found), encoding="utf-8")
        found.save(folder)
        found.write_tables(folder / "tables")
        for inside in ("report.html", "results.json"):
            mlflow.log_artifact(str(folder / inside), "evenhand")
        mlflow.log_artifacts(str(folder / "tables"), "evenhand/tables")
    for name, figure in Figures(found).items():  # as MLflow shows Plotly's; the report is offline
        mlflow.log_figure(figure, f"evenhand/figures/{name}.html")


def _group_labels(features: Any) -> pd.Series:
    """One text a row: of several attributes their values together; people without a value are a group."""
    frame = features if isinstance(features, pd.DataFrame) else pd.DataFrame(features)
    return frame.astype("string").fillna("(missing)").agg("\x1f".join, axis=1)


def _import(module: str, argument: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise InputError(argument, f"needs {package}", advice=f"pip install {package}") from None
