"""What a rejected person could change, by moving towards a counterpart whom the model accepts.

Implements section 4.3 of Kwegyir-Aggrey, Santorella, Brown, "Everything is Relative: Understanding
Fairness with Optimal Transport" (2021): interpolation (Eq. 15), Figures 4 and A1, and the roles of Table A1
(`GERMAN_ROLES`).

Beyond the paper, on request: several ways for one person, which of them are robust, one action for a whole
group, and what follows from an action (`ways`, `downstream`).

Departures, and why:

* Every rejected score is below every accepted one, so under the cost of Eq. 10 any coupling of the two is
  optimal. Recourse uses the one that is optimal for the squared cost, which keeps order.
* Interpolated rows are admissible (whole numbers, one category, limits). The paper scores fractions of
  categories, but no model here can score half a guarantor.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
