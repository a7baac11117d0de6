"""Numbers in the cells of a table, which are texts: read as people write them, or refused."""

from __future__ import annotations

import pytest

from app.recourse.choices import _number
from tests.refused import refused


@pytest.mark.parametrize(("text", "number"), [("12,5", 12.5), ("1.234,5", 1234.5), (" ", None), (None, None)])
def test_a_limit_is_read_as_it_is_written(text, number) -> None:
    assert _number({"column": "age", "at most": text}, "at most") == number


@pytest.mark.parametrize(("name", "text"), [("cost", "1,234"), ("cost", "-1"), ("at most", "1,234")])
def test_what_can_be_two_numbers_or_no_cost_is_refused(name, text) -> None:
    with refused(f"“{name}” of age", f"'{text}'"):
        _number({"column": "age", name: text}, name)
