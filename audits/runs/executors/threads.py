"""One thread for a run, wherever it runs: a sum of floating-point numbers depends on how threads share it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Variables that hold numeric libraries which are loaded later at one thread."""


@contextlib.contextmanager
def fixed_threads() -> Iterator[None]:
    """Hold the numeric libraries, loaded already or loaded meanwhile, at one thread."""
    from threadpoolctl import threadpool_limits

    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
