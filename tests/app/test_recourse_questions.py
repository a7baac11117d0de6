"""What a person can change, as far as the columns' names say it."""

from __future__ import annotations

from app.recourse.questions import is_named_fixed, ways_of


def test_what_nobody_changes_is_not_proposed_and_what_people_change_is() -> None:
    fixed = ["age", "Alter", "âge", "edad", "fnlwgt", "MaritalStatus", "Familienstand"]
    fixed += ["Geburtsjahr", "Kinder", "enfants"]
    changed = ["hours_per_week", "Einkommen", "revenu", "ahorros", "credit_amount", "Altersvorsorge"]
    assert [name for name in [*fixed, *changed] if is_named_fixed(name)] == fixed


def test_years_and_degrees_only_grow() -> None:
    names = ["tenure", "Betriebszugehörigkeit", "ancienneté", "Einkommen"]
    kinds = dict.fromkeys(names, "integer")
    assert ways_of({"id": "x"}, names, kinds) == ["up only"] * 3 + ["any way"]
