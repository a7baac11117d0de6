"""Group metrics: how do the groups of each protected attribute, and their intersections, compare?

These are the measures with which all five methods papers compare themselves: selection rate, error rates,
precision, accuracy, calibration, impact ratio (four-fifths rule, 29 CFR 1607.4 D), demographic parity
(Dwork et al. 2012), equal opportunity and equalized odds (Hardt, Price, Srebro 2016) and average odds
(Bellamy et al. 2018). Values follow fairlearn's and scikit-learn's definitions; every one has an interval.
A difference excludes 0 only if Fisher's exact test does, too. Otherwise a handful of people would differ too
often.

"Positive" always means favorable for the person: a true positive rate is the share of people with a
favorable label who get the favorable decision.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
