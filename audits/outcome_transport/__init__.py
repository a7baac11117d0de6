"""Which subgroup's outcomes correspond to which, and how biased is that?

Implements Kwegyir-Aggrey, Santorella, Brown, "Everything is Relative: Understanding Fairness with Optimal
Transport" (2021):

* comparisons of two policies on one population, or of one policy on two (section 3.1, Eq. 8 to 10), with the
  Wasserstein distance of order 1 and 2 (Eq. 4): `outcome_transport`;
* individual bias (Eq. 11, 12, 16), group and subgroup bias (Eq. 13, 17), its additive decomposition (Remark
  3.1), its normalized form (Eq. 18), on all features or on one role's (Figure 5), and the flows of Figure 3;
* unbalanced, partial and entropic coupling, which section 6 proposes.

Departures, and why:

* Optimal couplings are far from unique if outcomes are equal, and, under the unsquared norm of Eq. 10, even
  if they are not. Every number here is from the coupling that keeps order and spreads mass evenly within
  ties. It is shown with the smallest and largest value over all optimal couplings
  (`audits.outcome_transport.matching.optimal_face`). The verdict on groups' bias holds in all of them
  (`audits.outcome_transport.inference`).
* The paper calls the distance with the unsquared norm of Eq. 10 W2. By its own Eq. 4 that is order 1. Here
  it is the default and is called order 1; the squared norm gives order 2.
* Individual bias is the expectation of Eq. 12, over a row of the coupling that sums to 1. Eq. 16 in the
  appendix leaves out the factor n. Group bias is given as a mean, beside the paper's sum, which grows with
  the group.
* If a blurred coupling leaves people unmatched, means and flows weight people by the part that is matched. An
  entropic plan is rounded to the marginals, so it never costs less than is possible.
* The equal-opportunity policy is the model with a threshold for each group (Hardt et al. 2016), not a model
  trained under a constraint. So any model has one.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
