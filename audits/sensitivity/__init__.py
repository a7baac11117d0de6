"""Prediction sensitivity: is this one prediction driven by protected status?

Maughan, Ngong, Near, "Prediction Sensitivity: Continual Audit of Counterfactual Fairness in Deployed
Classifiers", 2022.

Implemented: Definition 3.1, the protected-status model and its weights (`protected`, `measuring`);
Definition 3.2, prediction sensitivity, with SmoothGrad's averaging (`measuring`); section 4, baseline at
training time and monitor at deployment (`judging`, `bundle`); section 5, match sets on data from known
causal models (`synthetic`); section 6, match sets by counterfactual augmentation (`twin`, `matching`).

Departures, and why:

* The gradient is that of A's log-odds. The gradient of its probability, as Definition 3.1 is written,
  vanishes where A is sure: with the protected column among the features, nearly everyone is at 0. The
  literal form is an option, with a warning.
* By default A does not read the protected column; in the paper's experiments it does.
* By default A is a network, even if F is a logistic regression. With two logistic regressions, the
  sensitivity is p(1 - p) times a constant, and no verdict follows from it.
* With more than two groups, A's log-odds are those of the likeliest group against the rest; with two groups
  this is the paper's definition. Each attribute has its own A, and a person's sensitivity is the largest.
* Features are points of a `FeatureSpace`: numbers in standard deviations, categories as entries of 0.5.
* The threshold is a quantile of the reference people, with an interval; the paper leaves it to the
  maintainer. Results by group and by feature, and the verdict on them, are added.
* Match sets are also evaluated for two rivals that ignore groups, and among people equally far from the
  decision threshold. Near the threshold, any second model decides differently, and Figures 4 and 7 do not
  distinguish that from sensitivity.
* A model without a gradient is measured by finite differences and swaps, labeled as such.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
