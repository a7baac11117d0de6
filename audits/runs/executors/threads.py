"""How many threads a run computes with: the same wherever it runs, so that its numbers are the same."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from audits.errors import InputError

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def thread_count() -> int:
    """Return how many threads libraries may use: ``EVENHAND_THREADS``, or 1.

    A sum of floating-point numbers depends on how threads share it out, so the count must not follow
    the machine or the executor.
    """
    text = os.environ.get("EVENHAND_THREADS", "1")
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1024:
        raise InputError("EVENHAND_THREADS", "must be a whole number from 1 to 1024", text)
    return int(text)


@contextlib.contextmanager
def fixed_threads() -> Iterator[None]:
    """Hold the numeric libraries, loaded already or loaded meanwhile, at `thread_count` threads."""
    from threadpoolctl import threadpool_limits

    count = thread_count()
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(count)))
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(count)
    try:
        with threadpool_limits(count):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
