"""Moving one group of people onto another at least cost: couplings of weighted points, exact and proved."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
