"""Rule sets: which hidden intersection of protected groups does the model decide differently?

Implements Zhang, Wang, Sun, Sun, "TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
Discrimination" (2022): rules and frequent rule sets (section 4.1, Eq. 2, Algorithm 1), the group-fairness
score (Definition 4.1), its conservative margin and product confidence (Theorem 4.2, Eq. 7), the perturbation
sample with sequential stopping (Algorithm 2, section 4.3), the effect of the support threshold (Table 6),
rules on the identity terms of texts (Table 1), and retraining (RQ3, Table 7).

Past the paper: the same groups by how the model errs (`measures`, tested as decisions are), what each
condition adds to a difference (Shapley values), and the broader and narrower groups around it.

Departures, and why:

* Every rule set is a union of cells of one contingency table, so all are counted by matrix products instead
  of one by one; those with the same people are merged under the shortest description. The table adds up over
  parts of the data, so a spec audits files larger than memory too.
* The score is stated exactly on the data, and beside it on the perturbation sample. The paper samples again
  for every rule set; since a perturbation never moves a person to another group, one stratified pool serves
  all.
* The paper ranks hundreds of sampled scores and reports the worst. Here p-values and intervals are corrected
  for the whole family (shuffled decisions, largest z-score), the finding is tried on a half of the people it
  was not found on, and the top score is also stated without the gain from being picked as the largest.
  Interval and p-value agree: an interval holds 0 unless the corrected p is at most the level, and where the
  interval of the shuffles holds 0, p is raised to that at which it would not.
* A perturbation stays within the range seen in the data; a decimal moves by 0.01 of its range; a category
  takes the value of a random other person (the paper says nothing of categories). Dates, which the paper does
  not have, are cut into bins between whole days.
* Rule sets whose people largely overlap are one finding; the paper's top three are often one group.
  Findings with evidence come first: by score alone the smallest groups, and those that leave out a handful,
  would lead by luck.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
