"""Does a gap between two groups survive among people alike in what may explain it?

Implements the decomposition of a difference of two rates into a part that goes with how the groups are
composed and a part that is left among people alike (Kitagawa 1955; for cells it is that of Oaxaca 1973 and
Blinder 1973), the rate of one group reweighted to the other's composition (DiNardo, Fortin, Lemieux 1996),
and transport within cells: how far the rates lie apart in either direction, which cannot cancel. People
without anybody alike in the other group are a part of their own (Ñopo 2008).

Choices, and why:

* Explainers are taken as cells: values, numbers cut into bins with equally many people. No model of the
  outcome is fitted, so none can be wrong; what varies within a bin is not explained.
* Only cells with at least 5 people of each group are compared.
* The few explainers taken together are those that go with the gap for sure, the largest part first, on one
  half of the people; what is left is measured on the other: chosen and measured on the same, they would seem
  to explain what is luck.
* Where an explainer leaves too few people alike to be looked at, no gap is said to survive: it could be the
  one that explains it.
* Immutable columns and protected attributes explain nothing unless named: what cannot be otherwise is no
  reason.
* "Explained" is arithmetic. A column can itself be the product of unequal treatment; no part is called cause.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
