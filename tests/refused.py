"""What a refusal is held to: its place, and the names and numbers that it tells; not how it is worded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from audits.errors import InputError


@contextmanager
def refused(where: str, *tells: object) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """Expect an `InputError` about what is given at `where`, whose sentence holds each of `tells`."""
    with pytest.raises(InputError) as told:
        yield told
    assert told.value.where == where, str(told.value)
    for each in tells:
        assert str(each) in str(told.value), str(told.value)
