"""Counterparts for more than two groups at once, through the barycenter of all of them.

FlipTest (Black, Yeom, Fredrikson 2020) holds one group against one other. Here every group is mapped, at
least cost, to one common distribution: the Wasserstein barycenter of the groups' features (Agueh, Carlier
2011), each weighted by its people or alike. It is found by the fixed-point iteration of Álvarez-Esteban, del
Barrio, Cuesta-Albertos, Matrán (2016): points are matched exactly with every group, and move to the weighted
mean of the people who meet there.

Choices, and why:

* A person's counterparts are the people of the other groups who meet the person at the same point of the
  barycenter, weighted as the groups are. The point itself is an average of people, half one category and half
  another: nobody has such features, a model's answer there would be a guess, and a column of predictions has
  none. So nobody is invented and every model can be audited, a column of predictions too.
* Then, as by FlipTest's Proposition 2, a group's flips one way less those the other way are its favorable
  rate less the (weighted) rate of the others, whatever the matching.
* The iteration begins at the largest group, whose exact matchings with the others are glued to points at
  which one person, or people with the same features, of every group meet. For two groups, and for a single
  feature, that is the exact barycenter, and of two groups flips are a flipset's; with more, the iteration
  stops after some rounds. How far it can lie above the least possible is stated: no barycenter is nearer to
  the groups than their exact distances from each other allow.
* A transparency report as FlipTest's Definition 2, in both rankings, is of all pairs who meet and flip, group
  by group and way by way; its intervals take as given who meets whom.
* Beside it every group is matched with everyone, its own people too: a common reference that is nobody's
  middle. Net flips are then the part 1 - share of those against the others, and as sure, so no verdict of
  their own follows from them.
* The cost is named. With three groups or more it is the squared Euclidean distance, for which a barycenter is
  a mean; numbers in standard deviations, another category 0.5. With two groups it is any cost, by default
  FlipTest's squared L1, and the coupling is the flipset's. The attributes that make the groups are not
  matched on.
* A verdict looks at two things, which share the level: at a group's net flips, and at the larger of both ways
  above chance, which shows flips that cancel. That one needs, for evidence, rates or a feature that decisions
  go with to differ among the groups: flips can also come from features that only hang together differently.
* The level of chance comes from permuting membership among all people and finding the barycenter again;
  p-values are corrected for all groups by the largest of them (Westfall, Young 1993).
* Intervals of flips above chance come from halves of every group, drawn without replacement (Politis, Romano,
  Wolf 1999): people drawn twice would be their own counterparts.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
