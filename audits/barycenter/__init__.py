"""Counterparts for more than two groups at once, through the barycenter of all of them.

FlipTest (Black, Yeom, Fredrikson 2020) compares one group with one other. Here every group is mapped, at
least cost, to one common distribution: the Wasserstein barycenter of the groups' features (Agueh, Carlier
2011), each weighted by its number of people or equally. It is found by the fixed-point iteration of
Álvarez-Esteban, del Barrio, Cuesta-Albertos, Matrán (2016): points are matched exactly with every group, and
move to the weighted mean of the people who meet there.

Choices, and why:

* A person's counterparts are the people of the other groups who meet the person at the same point of the
  barycenter, weighted as the groups are. The point itself is an average of people, half one category and
  half another. Nobody has such features: a model's answer there would be a guess, and a column of
  predictions has no answer. So nobody is invented, and every model can be audited, even a column of
  predictions.
* As in FlipTest's Proposition 2, a group's flips one way minus those the other way then equal its favorable
  rate minus the (weighted) rate of the others, whatever the matching.
* The iteration begins at the largest group, whose exact matchings with the others are glued to points at
  which one person, or people with the same features, of every group meet. For two groups, and for a single
  feature, that is the exact barycenter, and of two groups flips are a flipset's; with more, the iteration
  stops after some rounds. How far it can lie above the least possible is stated: no barycenter is nearer to
  the groups than their exact distances from each other allow.
* The transparency report follows FlipTest's Definition 2, in both rankings. It covers all pairs who meet and
  flip, by group and direction. Its intervals take as given who meets whom.
* Every group is also matched with everyone, including its own people, as a common reference. Net flips are
  then 1 - share times those against the others, with the same certainty, so they have no verdict of their
  own.
* The cost is named. With three groups or more it is the squared Euclidean distance, for which a barycenter is
  a mean; numbers in standard deviations, another category 0.5. With two groups it is any cost, by default
  FlipTest's squared L1, and the coupling is the flipset's. The attributes that make the groups are not
  matched on.
* A verdict looks at two things, which share the level: a group's net flips, and the larger of both
  directions above chance, which shows flips that cancel. The second is evidence only if rates differ among
  the groups, or a feature related to decisions does. Flips can also come from features that are only related
  differently.
* What chance gives comes from permuting membership among all people and finding the barycenter again.
  p-values are corrected for all groups by the largest of them (Westfall, Young 1993).
* Intervals of flips above chance come from halves of every group, drawn without replacement (Politis, Romano,
  Wolf 1999): people drawn twice would be their own counterparts.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
