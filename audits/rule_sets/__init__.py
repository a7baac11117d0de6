"""Rule sets: which hidden intersection of protected groups gets different decisions from everyone else?

Implements Zhang, Wang, Sun, Sun, "TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
Discrimination" (2022): rules and frequent rule sets (section 4.1, Eq. 2, Algorithm 1), the group-fairness
score (Definition 4.1), its conservative margin and product confidence (Theorem 4.2, Eq. 7), the perturbation
sample with sequential stopping (Algorithm 2, section 4.3), the effect of the support threshold (Table 6),
rules on the identity terms of texts (Table 1), and retraining (RQ3, Table 7).

Beyond the paper: the same groups by the model's errors (`measures`, tested like decisions), what each
condition adds to a difference (Shapley values), and the broader and narrower groups around it.

Departures, and why:

* Every rule set is a union of cells of one contingency table. So all are counted by matrix products instead
  of one by one, and those with the same people are merged under the shortest description. Tables of parts of
  the data add up, so a spec can also audit files larger than memory.
* The score is stated exactly on the data, and also on the perturbation sample. The paper samples again for
  every rule set. A perturbation never moves a person to another group, so one stratified pool is enough for
  all.
* The paper ranks hundreds of sampled scores and reports the worst. Here p-values and intervals are corrected
  for the whole family (shuffled decisions, largest z-score), the finding is tested on the half of the people
  on which it was not found, and the top score is also stated after correcting for picking the largest.
  Interval and p-value agree: an interval contains 0 unless the corrected p is at most the level. If the
  interval from the shuffles contains 0, p is raised to the level at which it would not.
* A perturbation stays within the range seen in the data; a decimal moves by 0.01 of its range; a category
  takes the value of a random other person (the paper does not mention categories). Dates, which the paper
  does not have, are cut into bins between whole days.
* Rule sets whose people largely overlap are one finding; the paper's top three are often one group. Findings
  with evidence come first. Sorted by score alone, the smallest groups, and those that leave out a handful of
  people, would lead by chance.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
