"""Table A1: which features of the German credit data a person can change.

The table speaks of features made from the file's columns; here it is read column by column (names as in
``german.csv``). Three places need a choice: the table lists *unemployed* as actionable and *years at job* as
immutable, which are levels of one column, ``employment`` (immutable here: four of its five levels are years);
sex stands in ``personal_status`` together with marital status; and ``status`` (checking account) and
``housing`` are not in the table, so they get no role.
"""

from __future__ import annotations

from audits.data.kinds import Role

__all__ = ["GERMAN_ROLES"]

GERMAN_ROLES: dict[str, Role] = {
    "savings": "actionable",
    "credit_history": "actionable",
    "installment_plans": "actionable",
    "other_debtors": "actionable",
    "people_liable_for": "actionable",
    "property": "actionable",
    "number_of_credits": "actionable",
    "investment_as_income_percentage": "actionable",
    "credit_amount": "mutable",
    "month": "mutable",
    "purpose": "mutable",
    "telephone": "mutable",
    "personal_status": "immutable",
    "sex": "immutable",
    "age": "immutable",
    "foreign_worker": "immutable",
    "employment": "immutable",
    "skill_level": "immutable",
    "residence_since": "immutable",
}
