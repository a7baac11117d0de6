"""Individual fairness: does a move in directions that should not matter multiply a person's loss?

Implements Maity, Xue, Yurochkin, Sun, "Statistical inference for individual fairness" (ICLR 2021): the
gradient-flow attack (section 2, Eq. 2.6-2.8, Algorithm 1), the loss-ratio test with its intervals (section
3.1, Eq. 3.4-3.10), the error-rate-ratio test (section 3.2 and Appendix C, Eq. 3.11-3.13), fair metrics
given or learned (section 4, Appendix F.2), the misspecified metric (Figure 1, Appendix E), the statistic
along the stopping time (Figure 2) and the comparison of models over splits (Tables 1, 3 and 4).

Departures, and why:

* Intervals and tests correct for skewness by default, and error ratios use a score test: ratios have long
  right tails, for which the paper's normal interval is too narrow and its test too weak. The paper's own
  bounds are also given, and ``inference: paper`` makes them decide.
* People move in the `FeatureSpace` of the audit, z-scored over the people audited, but with categories as
  columns of 0 and 1, as in the paper. With 0.5 they would move four times as fast, and on Adult, T_n of an
  unfair network would rise tenfold.
* V_n has the divisor n - 1 of Eq. 3.4 (the reference code: n). The paper's loop drops ratios that are not
  finite; here losses are float64 from the logits on, and nobody is dropped.
* The distance is squared as in Eq. 2.6 (Algorithm 1 prints it without the square).
* If the model predicts k > 2 classes, the loss is that of the person's own class. If it predicts the number
  from which the label is cut, the loss is that of the number. Squared errors count as at least a hundredth
  of the label's variance, because the ratio of errors that pass through 0 has no mean.
* The learned metric of each tenth of the people is learned on the others (the paper learns it on the
  training data), and intervals cover the confidence region of its directions. If the features do not reveal
  an attribute in people who were left out, it gives no direction: moving people along any direction that the
  model reads makes losses larger, noise or not.
* The verdict follows from the two-sided interval; the paper's one-sided test (`reject`) is also given.
* For models without a gradient (which the paper needs), people are moved by scoring alone. That is an
  estimate and is labeled so. What it finds can be evidence; what it does not find clears nobody.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
