"""FlipTest: whose decision changes when a person is replaced by a counterpart of another group?

Implements Black, Yeom, Fredrikson, "FlipTest: Fairness Testing via Optimal Transport" (FAT* 2020):
the transport map between groups (section 3, squared L1 cost), flipsets (Definition 1, with fractional
membership where mass splits), the transparency report (Definition 2), conditioning on the true label
(section 4.1, equalized odds), the reverse direction (Appendix D) and the share of flips to expect by
chance (section 5.1).

Departures, and why:

* Groups of unequal size are matched by a coupling, so a person may have several counterparts, and flips are
  then shares. Equal people share their counterparts evenly, so no number depends on row order.
* A transparency report ranks by differences in standard deviations, and also states them in the feature's own
  unit. The paper's features are standardized beforehand; a user's are not.
* What chance gives comes from permuting group membership and matching again, on subsamples if the groups are
  large. (The paper trains on two samples of one distribution.) The verdict follows from how far the larger
  flipset exceeds that (`audits.flipset.null_distribution`), and from whether people with the same features
  get the same decisions (`audits.flipset.comparisons.conditional_test`). The paper does not ask the latter.
  Flips above chance come either from a second rule, or from features that are related differently in the two
  groups.
* Maps that invent counterparts are refitted to every permutation. For networks that would take hours, so a
  linear map is used.
* A map's counterparts are made admissible before they are scored: whole numbers, one category, within the
  range seen. The attributes compared take the value of the nearest person in the target group.
* The checks of section 5.1 have limits here (`audits.flipset.counterparts.validation`), taken from the
  paper's tables. If a map exceeds a serious one, the result first says that it cannot be trusted.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
