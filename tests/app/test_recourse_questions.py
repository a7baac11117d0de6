"""What a person can change, as far as the columns' names say it, and limits as people write them."""

from __future__ import annotations

import pytest

from app.recourse.choices import _number
from app.recourse.questions import is_named_fixed, ways_of
from tests.refused import refused


def test_what_nobody_changes_is_not_proposed_and_what_people_change_is() -> None:
    fixed = ["age", "Alter", "âge", "edad", "fnlwgt", "MaritalStatus", "Familienstand"]
    fixed += ["Geburtsjahr", "Kinder", "enfants"]
    changed = ["hours_per_week", "Einkommen", "revenu", "ahorros", "credit_amount", "Altersvorsorge"]
    assert [name for name in [*fixed, *changed] if is_named_fixed(name)] == fixed


def test_years_and_degrees_only_grow() -> None:
    names = ["tenure", "Betriebszugehörigkeit", "ancienneté", "Einkommen"]
    kinds = dict.fromkeys(names, "integer")
    assert ways_of({"id": "x"}, names, kinds) == ["up only"] * 3 + ["any way"]


@pytest.mark.parametrize(("text", "number"), [("12,5", 12.5), ("1.234,5", 1234.5), (" ", None), (None, None)])
def test_a_limit_is_read_as_it_is_written(text, number) -> None:
    assert _number({"column": "age", "at most": text}, "at most") == number


@pytest.mark.parametrize(("name", "text"), [("cost", "1,234"), ("cost", "-1"), ("at most", "1,234")])
def test_what_can_be_two_numbers_or_no_cost_is_refused(name, text) -> None:
    with refused(f"“{name}” of age", f"'{text}'"):
        _number({"column": "age", name: text}, name)
