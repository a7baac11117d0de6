"""People selected by whether their twin, or they in another life, would be decided otherwise."""

from __future__ import annotations

import pandas as pd

from app.selection import SelectionRules


def _with_derived(people: pd.DataFrame) -> pd.DataFrame:
    for name in ("twin_decision", "counterfactual_decision"):
        if name in people:
            otherwise = people["decision"] != people[name]
            made = otherwise.map({True: "another decision", False: "same decision"})
            people = people.assign(**{"match set": made})
    return people


OWN = SelectionRules(with_made=_with_derived)
