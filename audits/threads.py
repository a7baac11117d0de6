"""One thread for the numeric libraries, where sums must not depend on threads or are too small for them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread(only: str | None = None) -> AbstractContextManager[Any]:
    """Return a context in which BLAS and OpenMP use one thread, or one kind of them only ("blas")."""
    return _thread_pools().limit(limits=1, user_api=only)


@functools.cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Have torch compute on one thread within."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
