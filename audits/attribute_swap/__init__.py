"""Change one word: give each person every other value of a protected attribute, and change nothing else.

Whose decision changes? This is the oldest question about a model ("causal discrimination" of Galhotra, Brun,
Meliou, "Fairness Testing: Testing Software for Discrimination", 2017). For the people audited the answer
is exact; an interval is about people like them.

This does not show another life: someone of another sex would have had another career. Whatever else goes with
sex stays as it is.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
