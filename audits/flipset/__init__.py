"""FlipTest: whose decision changes when a person is replaced by a counterpart of another group?

Implements Black, Yeom, Fredrikson, "FlipTest: Fairness Testing via Optimal Transport" (FAT* 2020):
the transport map between groups (section 3, squared L1 cost), flipsets (Definition 1, with fractional
membership where mass splits), the transparency report (Definition 2), conditioning on the true label
(section 4.1, equalized odds), the reverse direction (Appendix D) and the share of flips to expect by
chance (section 5.1).

Departures, and why:

* Groups of unequal size are matched by a coupling, so a person may have several counterparts; flips are
  then shares. Equal people share their counterparts evenly, so that no number depends on row order.
* A transparency report ranks by differences in standard deviations, and states them in the feature's own
  unit too: the paper's features are standardized beforehand, a user's are not.
* The chance level comes from permuting group membership and matching again (the paper trains on two
  samples of one distribution), on subsamples where the groups are large. The verdict follows from what the
  larger flipset holds above that (`audits.flipset.null_distribution`), and from whether people with the same
  features are decided alike (`audits.flipset.comparisons.conditional_test`), which the paper does not ask:
  flips above chance come from either a second rule or features that hang together differently. Maps that
  invent counterparts are
  refitted to every permutation; for networks, of which one a permutation would take hours, a linear one.
* A map's counterparts are made admissible before they are scored: whole numbers, one category, within the
  range seen. The attributes compared take the value of the nearest person of the target group.
* Section 5.1's checks get limits (`audits.flipset.counterparts.validation`), from the paper's own tables: a
  map that exceeds a serious one says first that it cannot be trusted.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
