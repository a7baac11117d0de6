"""What a rejected person could change, by moving towards a counterpart whom the model accepts.

Implements section 4.3 of Kwegyir-Aggrey, Santorella, Brown, "Everything is Relative: Understanding
Fairness with Optimal Transport" (2021): interpolation (Eq. 15), Figures 4 and A1, and the roles of Table A1
(`GERMAN_ROLES`).

Past the paper, on request: several ways for one person, which of them hold, one action for a whole group, and
what follows from an action (`ways`, `downstream`).

Departures, and why:

* Every rejected score lies below every accepted one, so that under Eq. 10's cost any coupling of the two is
  optimal. Recourse takes the one that is optimal for the squared cost, which keeps order.
* Interpolated rows are admissible ones (whole numbers, one category, limits), where the paper scores
  fractions of categories: no model here can be asked about half a guarantor.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
