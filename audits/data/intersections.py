"""Groups of people: every combination of the protected attributes that are compared by."""

from __future__ import annotations

import numpy as np

from audits.checks import one_of
from audits.data import AuditData, group_name
from audits.errors import InputError

_MAX_GROUPS = 40


def group_codes(data: AuditData, by: tuple[str, ...] | None, where: str) -> tuple[np.ndarray, list[str]]:
    """Return each person's group as a code (n,), and the groups' names.

    Raises
    ------
    InputError
        If there is no protected attribute, one is unknown, or they make too many groups.
    """
    chosen = data.protected if by is None else by
    if not chosen:
        raise InputError(where, "must name at least one protected attribute", advice="set data.protected")
    for name in chosen:
        one_of(where, name, data.protected, what="a protected attribute")
    code = data.groups.rename_axis(None).groupby(list(chosen)).ngroup().to_numpy()
    first = np.unique(code, return_index=True)[1]
    if len(first) > _MAX_GROUPS:
        raise InputError(
            where,
            f"must make at most {_MAX_GROUPS} groups, but {' × '.join(chosen)} makes {len(first):,}",
            advice="name fewer attributes, or cut one with data.bins",
        )
    names = [group_name({name: data.groups[name].iloc[k] for name in chosen}) for k in first]
    if len(set(names)) < len(names):
        names = [" & ".join(f"{name} {data.groups[name].iloc[k]}" for name in chosen) for k in first]
    return code, names
