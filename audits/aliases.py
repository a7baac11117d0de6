"""Words of other libraries and of everyday speech, and what to write here in their place.

Fairlearn, AIF360, Aequitas, scikit-learn and pandas name the same things otherwise. An error about a key or
value that is theirs says the line that is ours. British spellings mean what American ones do.
"""

from __future__ import annotations

import re

# words | the line of a spec | the argument of a call from Python
_KEYS = """
sensitive_features sensitive_feature sensitive_attributes sensitive_attribute sensitive protected_attribute \
protected_attributes protected_attribute_names prot_attr attributes protected_features group groups \
protected | protected: [COLUMN] under data | protected='COLUMN'
control_features control_feature confounders controls explanatory_attributes | \
audits: [{explain: {source: {COLUMN: VALUE}, target: {COLUMN: VALUE}, explainers: [COLUMN]}}] | \
audits={'explain': {'source': {COLUMN: VALUE}, 'target': {COLUMN: VALUE}, 'explainers': [COLUMN]}}
privileged_groups unprivileged_groups privileged_group unprivileged_group privileged unprivileged \
privileged_classes privileged_protected_attributes ref_groups_dict unprivileged_protected_attributes | \
protected: [COLUMN] under data, and \
audits: [{flipset: {source: {COLUMN: VALUE}, target: {COLUMN: VALUE}}}] | \
protected='COLUMN', audits={'flipset': {'source': {COLUMN: VALUE}, 'target': {COLUMN: VALUE}}}
y_true target targets label_name label_names labels label_column outcome target_column label_value y label | \
label: COLUMN under data | y as the third argument
favorable_label favorable_labels favorable favorable_classes favorable_class favorable_value pos_label \
positive_label positive good | favorable: VALUE under data | favorable=VALUE
y_prob y_proba y_score scores_names score_column probabilities proba y_pred_proba score scores | \
model: {predictions: {score: COLUMN}} | evenhand.audit(None, X, y, scores=…)
y_pred y_hat predicted prediction prediction_column predictions | \
model: {predictions: {label: COLUMN}} | evenhand.audit(None, X, y, predictions=…)
sample_weight sample_weights instance_weights instance_weights_name weight weights | \
weights: COLUMN under data | weights=…
feature_names columns_to_use inputs input_columns features_to_keep usecols X features | \
features: [COLUMN, …] under data | features=[…]
categorical_features cat_features categorical_columns categorical numeric_features numerical_features dtypes \
dtype types | kinds: {COLUMN: categorical} under data | kinds={COLUMN: 'categorical'}
na_values na missing_values null_values nan | \
read: {missing: ['?']} under data | X with NaN where a cell is missing
sep delimiter separator | read: {separator: ';'} under data | X = pandas.read_csv(…, sep=';')
file filename filepath csv df dataframe dataset table dataset_path | \
path: FILE under data | X as the second argument
metrics metric_frame metric audit tests checks | audits: [groups] | audits='groups'
random_state random_seed rng | seed: 0 | seed=0
train_model estimator classifier algorithm learner | \
model: {train: logistic} | the fitted model as the first argument
onnx model_path model_file checkpoint | model: {path: model.onnx} | the model itself
url address service | model: {endpoint: {url: http://127.0.0.1:8000/score}} | a function
cutoff decision_threshold cut | threshold: 0.5 | threshold=0.5
filter filters query where rows | \
keep: [{column: COLUMN, at_least: NUMBER}] under data | the rows of X that you mean
greater gt ge min minimum greater_than | at_least: NUMBER | at_least: NUMBER
less lt le max maximum less_than | at_most: NUMBER | at_most: NUMBER
eq equals is value values | in: [VALUE] | in: [VALUE]
age_bins cuts buckets bin_edges | \
bins: {COLUMN: [EDGE, EDGE, EDGE]} under data | bins={COLUMN: [EDGE, EDGE, EDGE]}
"""
_VALUES = """
logistic | logisticregression logreg lr sklearn linear logit
forest | randomforest randomforestclassifier rf trees extratrees
boosting | xgboost xgb lightgbm lgbm catboost gradientboosting gbm gbdt gradientboostingclassifier \
histgradientboosting histgradientboostingclassifier
mlp | neural nn neuralnetwork network mlpclassifier dnn torch
reductions | exponentiatedgradient gridsearch fairlearn
impute | mean median mode fill fillna interpolate
drop | dropna remove delete ignore omit
category | keep none asis
continuous | numeric number float numerical real double float64
integer | int int64 count discrete
boolean | bool binary flag
categorical | category nominal object string str factor
datetime | date time timestamp
identifier | id key index
favorable | better good higher true up favorable positive
unfavorable | worse bad lower risk unfavorable negative down
held_out | test validation holdout heldout oos outofsample
in_sample | train training insample
"""
_METRICS = """
impact_ratio | disparate_impact disparate_impact_ratio disparity_ratio four_fifths adverse_impact_ratio \
adverse_impact selection_rate_ratio air
demographic_parity_difference | statistical_parity_difference mean_difference spd demographic_parity \
statistical_parity parity_difference disparate_impact_difference selection_rate_difference
demographic_parity_ratio | statistical_parity_ratio
equal_opportunity_difference | true_positive_rate_difference tpr_difference equal_opportunity
equalized_odds_difference | equalized_odds
average_odds_difference | average_abs_odds_difference average_odds
selection_rate | positive_rate acceptance_rate pprev predicted_positive_rate approval_rate
true_positive_rate | tpr recall sensitivity
false_positive_rate | fpr fallout fall_out
true_negative_rate | tnr specificity
false_negative_rate | fnr miss_rate
precision | ppv positive_predictive_value
accuracy | acc accuracy_score
base_rate | prevalence prev
differences.selection_rate | selection_rate_gap
differences.true_positive_rate | tpr_gap
differences.false_positive_rate | fpr_gap
"""
_BRITISH = {
    "favour": "favor",
    "colour": "color",
    "behaviour": "behavior",
    "neighbour": "neighbor",
    "centre": "center",
    "labell": "label",
    "normalis": "normaliz",
    "standardis": "standardiz",
    "categoris": "categoriz",
    "equalis": "equaliz",
    "regularis": "regulariz",
    "optimis": "optimiz",
    "randomis": "randomiz",
}


def normalize_word(word: object) -> str:
    """Return a word as it is looked up: small letters and digits alone, in American spelling.

    Examples
    --------
    >>> normalize_word("Favourable_Label"), normalize_word("barycentre")
    ('favorablelabel', 'barycenter')
    """
    return american(re.sub(r"[^a-z0-9]", "", str(word).lower()))


def american(word: str) -> str:
    """Return a word in American spelling.

    Examples
    --------
    >>> american("favourable"), american("higher_is")
    ('favorable', 'higher_is')
    """
    for british, ours in _BRITISH.items():
        word = word.replace(british, ours)
    return word


_ROWS = [[part.strip() for part in line.split("|")] for line in _KEYS.strip().splitlines()]
_BY_KEY = {normalize_word(word): tuple(lines) for words, *lines in _ROWS for word in words.split()}
_BY_METRIC = {
    normalize_word(word): ours.strip()
    for ours, _, words in (line.partition("|") for line in _METRICS.strip().splitlines())
    for word in words.split()
}
_BY_VALUE = {
    word: ours.strip()
    for ours, _, words in (line.partition("|") for line in _VALUES.strip().splitlines())
    for word in words.split()
}


def key_line(word: str, *, python: bool = False) -> str | None:
    """Return what to write in place of a key, or of an argument in `python`; None if it is nobody's word.

    Examples
    --------
    >>> key_line("sensitive_features"), key_line("y_prob", python=True), key_line("banana")
    ('protected: [COLUMN] under data', 'evenhand.audit(None, X, y, scores=…)', None)
    """
    lines = _BY_KEY.get(normalize_word(word))
    return None if lines is None else lines[int(python)]


def in_python(sentence: str) -> str:
    """Return a sentence with the lines of a spec that `key_line` gives as arguments of a call.

    Examples
    --------
    >>> in_python("write favorable: VALUE under data.")
    'write favorable=VALUE.'
    """
    for _, line, argument in _ROWS:
        sentence = sentence.replace(line, argument)
    return sentence


def metric_name(word: str) -> str | None:
    """Return the number of results.json that another library's name of a metric means; None if nobody's.

    Examples
    --------
    >>> metric_name("disparate_impact"), metric_name("TPR"), metric_name("banana")
    ('impact_ratio', 'true_positive_rate', None)
    """
    return _BY_METRIC.get(normalize_word(word))


def value_line(word: object, options: tuple[str, ...]) -> str | None:
    """Return which of `options` a value means; None if it is nobody's word.

    Examples
    --------
    >>> value_line("RandomForestClassifier", ("logistic", "forest")), value_line("favourable", ("favorable",))
    ('forest', 'favorable')
    """
    found = _BY_VALUE.get(normalize_word(word))
    return found if found in options else None
