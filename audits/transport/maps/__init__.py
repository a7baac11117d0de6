"""Maps between two groups that carry anyone, seen or unseen, and the checks that they can be trusted.

``MAPS[name].fit(source, target, a=…, b=…, feature_weights=…, options=…, watch=…, progress=…, rng=…)`` fits;
the fitted map's ``transform`` carries people.
Coordinates are encoded ones; decoding is the caller's.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
