"""Individual fairness: is a person's loss multiplied when moved only in directions that should not matter?

Implements Maity, Xue, Yurochkin, Sun, "Statistical inference for individual fairness" (ICLR 2021): the
gradient-flow attack (section 2, Eq. 2.6-2.8, Algorithm 1), the loss-ratio test with its intervals (section
3.1, Eq. 3.4-3.10), the error-rate-ratio test (section 3.2 and Appendix C, Eq. 3.11-3.13), fair metrics
given or learned (section 4, Appendix F.2), the misspecified metric (Figure 1, Appendix E), the statistic
along the stopping time (Figure 2) and the comparison of models over splits (Tables 1, 3 and 4).

Departures, and why:

* Intervals and tests correct for skewness by default, and error ratios use a score test: ratios have long
  right tails, under which the paper's normal interval covers too little and its test sees too little. The
  paper's own bounds stand beside them, and ``inference: paper`` makes them the ones that decide.
* People move in the `FeatureSpace` of the audit, z-scored over the people audited, with its categories
  taken back to columns of 0 and 1 as in the paper: with 0.5 they would move four times as fast, and on
  Adult T_n of an unfair network rises tenfold.
* V_n has the divisor n - 1 of Eq. 3.4 (the reference code: n). The paper's loop drops ratios that are not
  finite; here losses are float64 from the logits on, and nobody is dropped.
* The distance is squared as in Eq. 2.6 (Algorithm 1 prints it without the square).
* A label of k > 2 classes is compared with the person's own class, and a label cut from a number with the
  number, where the model predicts these; squared errors count from a hundredth of the label's variance on,
  because the ratio of errors that pass through 0 has no mean.
* The learned metric of each tenth of the people is learned on the others (the paper learns it on the training
  data), and intervals cover the confidence region of its directions. Where nothing tells an
  attribute in people who were not learned from, it gives no direction: moving people along
  any direction that the model reads makes losses larger, noise or not.
* The verdict follows from the two-sided interval; the paper's one-sided test (`reject`) stands beside it.
* Models without a gradient are moved by scoring alone, an estimate that says so (the paper needs gradients):
  what it finds can be evidence, what it does not find clears nobody.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
