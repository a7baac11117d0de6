"""The one home of inference: intervals, tests, bootstrap, power and verdicts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
