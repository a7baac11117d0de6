"""What the tests of data expect of wrong input."""

from __future__ import annotations

import re

import pytest

from audits.errors import InputError


def refused(message: str) -> pytest.RaisesExc[InputError]:
    """Expect an InputError whose sentence holds `message`, to the letter."""
    return pytest.raises(InputError, match=re.escape(message))
