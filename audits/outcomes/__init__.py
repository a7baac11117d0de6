"""Whose outcomes are mapped onto whose, how biased that is, and what a rejected person could change.

Implements Kwegyir-Aggrey, Santorella, Brown, "Everything is Relative: Understanding Fairness with Optimal
Transport" (2021):

* comparisons of two policies on one population, or of one policy on two (section 3.1, Eq. 8 to 10), with the
  Wasserstein distance of order 1 and 2 (Eq. 4): `outcome_transport`;
* individual bias (Eq. 11, 12, 16), group and subgroup bias (Eq. 13, 17), its additive decomposition (Remark
  3.1), its normalised form (Eq. 18), on all features or on one role's (Figure 5), and the flows of Figure 3;
* unbalanced, partial and entropic coupling, which section 6 proposes;
* recourse (section 4.3, Eq. 15, Figures 4 and A1, Table A1 in `GERMAN_ROLES`): `recourse`;
* the Blue College simulation (section 4.1, Eq. 14, Figure 2): `blue_college`.

Departures, and why:

* Optimal couplings are far from unique: with equal outcomes, and, under the unsquared norm of Eq. 10, even
  without. Every number here is that of the coupling that keeps order and spreads mass evenly within ties, and
  stands beside the smallest and largest value over all optimal couplings (`audits.outcomes.ties`). The
  verdict on groups' bias is one that holds in all of them (`audits.outcomes.identified`).
* The paper calls the distance with the unsquared norm of Eq. 10 W2; by its own Eq. 4 that is order 1. It
  is the default, named order 1; the squared norm gives order 2.
* Individual bias is Eq. 12's expectation, over a row of the coupling that sums to 1; the appendix's Eq. 16
  leaves out the factor n. Group bias is given as a mean beside the paper's sum, which grows with the group.
* Where a blurred coupling leaves people unmatched, means and flows weigh people by what is matched of them.
  An entropic plan is rounded to the marginals, so that it never costs less than is possible.
* Every rejected score lies below every accepted one, so that under Eq. 10's cost any coupling of the two is
  optimal. Recourse takes the one that is optimal for the squared cost, which keeps order.
* Interpolated rows are admissible ones (whole numbers, one category, limits), where the paper scores
  fractions of categories: no model here can be asked about half a guarantor.
* The equal-opportunity policy is the model with a threshold for each group (Hardt et al. 2016) instead of a
  model trained under a constraint, so that any model has one.
"""

from audits.outcomes.german import GERMAN_ROLES
from audits.outcomes.options import Limit, OutcomeTransportOptions, Policy, RecourseOptions
from audits.outcomes.recourse import recourse, recourse_audit
from audits.outcomes.recourse_result import AlphaRow, Change, GroupRecourse, RecourseResult
from audits.outcomes.result import (
    BiasRow,
    Decomposition,
    Flows,
    OutcomeTransportResult,
    RoleBias,
    TieRange,
)
from audits.outcomes.simulation import blue_college
from audits.outcomes.transport import outcome_transport, outcome_transport_audit

__all__ = [
    "GERMAN_ROLES",
    "AlphaRow",
    "BiasRow",
    "Change",
    "Decomposition",
    "Flows",
    "GroupRecourse",
    "Limit",
    "OutcomeTransportOptions",
    "OutcomeTransportResult",
    "Policy",
    "RecourseOptions",
    "RecourseResult",
    "RoleBias",
    "TieRange",
    "blue_college",
    "outcome_transport",
    "outcome_transport_audit",
    "recourse",
    "recourse_audit",
]
