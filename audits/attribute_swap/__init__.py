"""Change one word: each person with every other value of a protected attribute, everything else as it is.

Whose decision changes is the oldest question about a model ("causal discrimination" of Galhotra, Brun,
Meliou, "Fairness Testing: Testing Software for Discrimination", 2017). For the people audited the answer
is exact; an interval is about people like them.

It is no other life: someone of another sex would have had another career, and what goes with sex stays.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
