"""What a person can change, as far as the columns' names say it."""

from __future__ import annotations

import pytest

from app.recourse.questions import is_named_fixed, ways_of


@pytest.mark.parametrize(
    "name",
    [
        "age",
        "Alter",
        "âge",
        "edad",
        "fnlwgt",
        "MaritalStatus",
        "Familienstand",
        "Geburtsjahr",
        "Kinder",
        "enfants",
    ],
)
def test_what_nobody_changes_is_not_proposed(name: str) -> None:
    assert is_named_fixed(name)


@pytest.mark.parametrize(
    "name", ["hours_per_week", "Einkommen", "revenu", "ahorros", "credit_amount", "Altersvorsorge"]
)
def test_what_people_change_is_proposed(name: str) -> None:
    assert not is_named_fixed(name)


def test_years_and_degrees_only_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["tenure", "Betriebszugehörigkeit", "ancienneté", "Einkommen"]
    kinds = dict.fromkeys(names, "integer")
    assert ways_of({"id": "x"}, names, kinds) == ["up only"] * 3 + ["any way"]
