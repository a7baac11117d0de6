"""Does a gap between two groups remain like for like?

What is estimated: among source people with comparable target people, the mean difference between their
decision and that of target people with the same explainers. All explainers are used at once. The estimate is
doubly robust and cross-fitted (Chernozhukov et al. 2018), or uses the means of joint cells if these are few.

Choices, and why:

* No column is dropped because cells become small. What does not fit into cells is learned, by learners that
  are stacked by their loss on people they have not seen.
* Source people are comparable if the source is at most 20 times as dense as the target, and at least 5 target
  people have each of their categories. If fewer than 80% of the source are comparable, there is no verdict.
* Intervals are simultaneous for the average and for those levels of every explainer that have at least 10%
  and 50 people of the source. An average alone can hide differences that cancel.
* Default explainers can be proxies for the group, so only explainers that the analyst names can clear a gap.
* If the model reads only explainers, and not the attribute, what is left is 0 and is not estimated.
* Immutable columns and protected attributes explain nothing unless named, because people cannot change them.
  The same goes for identifiers, row numbers and columns that contain the outcome itself.
* "Explained" does not mean justified. A column can itself result from unequal treatment; no part is called a
  cause.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
