"""Retrain with the missing examples of the worst rule set, and see what that does everywhere.

Implements RQ3 (Table 7) of "TestSGD: Interpretable Testing of Neural Networks against Subtle Group
Discrimination"; the method and its departures are in `audits.mitigation.audit`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
