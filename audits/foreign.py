"""Words of other libraries and of everyday speech, and what to write here in their place.

Fairlearn, AIF360, Aequitas, scikit-learn and pandas name the same things otherwise. An error about a key or
value that is theirs says the line that is ours.
"""

from __future__ import annotations

import re

__all__ = ["key_line", "squeezed", "value_line"]

_PROTECTED = ("protected: [COLUMN] under data", "protected='COLUMN'")
_LABEL = ("label: COLUMN under data", "y as the third argument")
_FAVORABLE = ("favorable: VALUE under data", "favorable=VALUE")
_SCORE = ("model: {predictions: {score: COLUMN}}", "audits.audit(None, X, y, scores=…)")
_PREDICTED = ("model: {predictions: {label: COLUMN}}", "audits.audit(None, X, y, predictions=…)")
_FEATURES = ("features: [COLUMN, …] under data", "features=[…]")
_WEIGHTS = ("weights: COLUMN under data", "weights=…")
_PAIR = (
    "protected: [COLUMN] under data, and audits: [{flipset: {source: {COLUMN: VALUE}, target: "
    "{COLUMN: VALUE}}}]",
    "protected='COLUMN', audits={'flipset': {'source': {COLUMN: VALUE}, 'target': {COLUMN: VALUE}}}",
)
_KINDS = ("kinds: {COLUMN: categorical} under data", "kinds={COLUMN: 'categorical'}")
_READ_MISSING = ("read: {missing: ['?']} under data", "X with NaN where a cell is missing")
_SEPARATOR = ("read: {separator: ';'} under data", "X = pandas.read_csv(…, sep=';')")
_PATH = ("path: FILE under data", "X as the second argument")
_METRICS = ("audits: [groups]", "audits='groups'")
_SEED = ("seed: 0", "seed=0")

_KEYS: dict[tuple[str, ...], tuple[str, str]] = {
    (
        "sensitive_features",
        "sensitive_feature",
        "sensitive_attributes",
        "sensitive_attribute",
        "sensitive",
        "protected_attribute",
        "protected_attributes",
        "protected_attribute_names",
        "prot_attr",
        "attributes",
        "protected_features",
        "group",
        "groups",
        "control_features",
        "protected",
    ): _PROTECTED,
    (
        "privileged_groups",
        "unprivileged_groups",
        "privileged_group",
        "unprivileged_group",
        "privileged",
        "unprivileged",
        "privileged_classes",
        "privileged_protected_attributes",
        "ref_groups_dict",
        "unprivileged_protected_attributes",
    ): _PAIR,
    (
        "y_true",
        "target",
        "targets",
        "label_name",
        "label_names",
        "labels",
        "label_column",
        "outcome",
        "target_column",
        "label_value",
        "y",
        "label",
    ): _LABEL,
    (
        "favorable_label",
        "favorable_labels",
        "favorable",
        "favorable_classes",
        "favorable_class",
        "pos_label",
        "positive_label",
        "positive",
        "good",
        "favorable_value",
        "favorable",
    ): _FAVORABLE,
    (
        "y_prob",
        "y_proba",
        "y_score",
        "scores_names",
        "score_column",
        "probabilities",
        "proba",
        "y_pred_proba",
        "score",
        "scores",
    ): _SCORE,
    ("y_pred", "y_hat", "predicted", "prediction", "prediction_column", "predictions"): _PREDICTED,
    (
        "sample_weight",
        "sample_weights",
        "instance_weights",
        "instance_weights_name",
        "weight",
        "weights",
    ): _WEIGHTS,
    (
        "feature_names",
        "columns_to_use",
        "inputs",
        "input_columns",
        "features_to_keep",
        "usecols",
        "X",
        "x",
        "features",
    ): _FEATURES,
    (
        "categorical_features",
        "cat_features",
        "categorical_columns",
        "categorical",
        "numeric_features",
        "numerical_features",
        "dtypes",
        "dtype",
        "types",
    ): _KINDS,
    ("na_values", "na", "missing_values", "null_values", "nan"): _READ_MISSING,
    ("sep", "delimiter", "separator"): _SEPARATOR,
    ("file", "filename", "filepath", "csv", "df", "dataframe", "dataset", "table", "dataset_path"): _PATH,
    ("metrics", "metric_frame", "metricframe", "metric", "audit", "tests", "checks"): _METRICS,
    ("random_state", "random_seed", "rng"): _SEED,
    ("train_model", "estimator", "classifier", "algorithm", "learner"): (
        "model: {train: logistic}",
        "the fitted model as the first argument",
    ),
    ("onnx", "model_path", "model_file", "checkpoint"): ("model: {path: model.onnx}", "the model itself"),
    ("url", "address", "service"): ("model: {endpoint: {url: http://127.0.0.1:8000/score}}", "a function"),
    ("cutoff", "cut_off", "decision_threshold", "cut"): ("threshold: 0.5", "threshold=0.5"),
    ("filter", "filters", "query", "where", "rows"): (
        "keep: [{column: COLUMN, at_least: NUMBER}] under data",
        "the rows of X that you mean",
    ),
    ("greater", "gt", "ge", "min", "minimum", "greater_than"): ("at_least: NUMBER", "at_least: NUMBER"),
    ("less", "lt", "le", "max", "maximum", "less_than"): ("at_most: NUMBER", "at_most: NUMBER"),
    ("eq", "equals", "is", "value", "values"): ("in: [VALUE]", "in: [VALUE]"),
    ("age_bins", "cuts", "buckets", "bin_edges"): (
        "bins: {COLUMN: [EDGE, EDGE, EDGE]} under data",
        "bins={COLUMN: [EDGE, EDGE, EDGE]}",
    ),
}
_BY_KEY = {word: lines for words, lines in _KEYS.items() for word in words}

_VALUES = {
    "logistic": ("logisticregression", "logreg", "lr", "sklearn", "linear", "logit"),
    "forest": ("randomforest", "randomforestclassifier", "rf", "trees", "extratrees"),
    "boosting": ("xgboost", "xgb", "lightgbm", "lgbm", "catboost", "gradientboosting", "gbm", "gbdt",
                 "gradientboostingclassifier", "histgradientboosting", "histgradientboostingclassifier"),
    "mlp": ("neural", "nn", "neuralnetwork", "network", "mlpclassifier", "dnn", "torch"),
    "reductions": ("exponentiatedgradient", "gridsearch", "fairlearn"),
    "impute": ("mean", "median", "mode", "fill", "fillna", "interpolate"),
    "drop": ("dropna", "remove", "delete", "ignore", "omit"),
    "category": ("keep", "none", "asis"),
    "continuous": ("numeric", "number", "float", "numerical", "real", "double", "float64"),
    "integer": ("int", "int64", "count", "discrete"),
    "boolean": ("bool", "binary", "flag"),
    "categorical": ("category", "nominal", "object", "string", "str", "factor"),
    "datetime": ("date", "time", "timestamp"),
    "identifier": ("id", "key", "index"),
    "favorable": ("better", "good", "higher", "true", "up", "favorable", "positive"),
    "unfavorable": ("worse", "bad", "lower", "risk", "unfavorable", "negative", "down"),
    "held_out": ("test", "validation", "holdout", "heldout", "oos", "outofsample"),
    "in_sample": ("train", "training", "insample"),
}  # fmt: skip
_BY_VALUE = {word: ours for ours, words in _VALUES.items() for word in words}


def key_line(word: str, *, python: bool = False) -> str | None:
    """Return what to write in place of a key, or of an argument in `python`; None if it is nobody's word.

    Examples
    --------
    >>> key_line("sensitive_features"), key_line("y_prob", python=True), key_line("banana")
    ('protected: [COLUMN] under data', 'audits.audit(None, X, y, scores=…)', None)
    """
    lines = _BY_KEY.get(word) or _BY_KEY.get(word.lower())
    return None if lines is None else lines[int(python)]


def value_line(word: object, options: tuple[str, ...]) -> str | None:
    """Return which of `options` a value means; None if it is nobody's word.

    Examples
    --------
    >>> value_line("RandomForestClassifier", ("logistic", "forest"))
    'forest'
    """
    found = _BY_VALUE.get(squeezed(word))
    return found if found in options else None


def squeezed(word: object) -> str:
    """Return a word as it is looked up: small letters and digits alone."""
    return re.sub(r"[^a-z0-9]", "", str(word).lower())
