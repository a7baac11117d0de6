"""Is a gap between two groups still there like for like?

The estimand: among source people with comparable target people, the mean of their decision minus what target
people with the same explainers get. It is estimated with all explainers at once, doubly robust and
cross-fitted (Chernozhukov et al. 2018), or by the means of joint cells where these are few.

Choices, and why:

* No column is dropped because cells get thin: what does not fit cells is learned, by learners stacked by
  their loss on people that they have not seen.
* Source people are comparable where the source is at most 20 times as dense as the target, and at least 5
  target people have each of their categories. Below 80% of the source there is no verdict.
* The average and the levels of every explainer that hold 10% and 50 of the source have intervals that hold
  together: an average can hide differences that cancel.
* Default explainers can be proxies of the group: only explainers that the analyst names can clear a gap.
* Where the model reads nothing but explainers, and not the attribute, what is left is 0 and not estimated.
* Immutable columns and protected attributes explain nothing unless named: what cannot be otherwise is no
  reason. Nor do identifiers, row numbers and columns that hold the outcome itself.
* "Explained" is arithmetic. A column can itself be the product of unequal treatment; no part is called cause.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
