"""What pages show of prepared data: numbers of people, never the people themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audits.data import AuditData, Kind, Role
from audits.data.preprocessing.groups import GroupSize, group_sizes
from audits.errors import InputError
from audits.records import Size

_MAX = 1_000  # letters of a group's name: pages have it in every choice of a group


@dataclass(frozen=True)
class Summary:
    """Prepared data in numbers.

    Attributes
    ----------
    groups : mapping of str to tuple of GroupSize
        The values of each protected attribute, largest first.
    width : int
        About how many encoded columns the features become.
    favorable : float or None
        Share of people with the favorable label.
    types : mapping of str to str
        The type of each column of the frame: its letter in NumPy, "O" for texts.
    labeled, numeric : bool
        Whether each row has a label; whether the outcome is a number that is taken as it is.
    """

    rows_read: int
    rows: int
    people: float
    excluded: Mapping[str, int]
    imputed: Mapping[str, int]
    notes: tuple[str, ...]
    label: str | None
    favorable: float | None
    features: tuple[str, ...]
    kinds: Mapping[str, Kind]
    groups: Mapping[str, tuple[GroupSize, ...]]
    width: int
    digest: str
    types: Mapping[str, str]
    roles: Mapping[str, Role]
    labeled: bool
    numeric: bool


def summarise(data: AuditData) -> Summary:
    """Count the people of `data` by group."""
    weights = data.row_weights
    total = float(weights.sum())
    return Summary(
        rows_read=data.rows_read,
        rows=data.n,
        people=data.size,
        excluded=dict(data.excluded),
        imputed=dict(data.imputed),
        notes=tuple(data.notes),
        label=data.label,
        favorable=None if data.y is None or not total else float(weights[data.y].sum() / total),
        features=tuple(data.features),
        kinds=dict(data.kinds),
        groups={name: _sizes(data, name) for name in data.protected},
        width=sum(_width(data, name) for name in data.features),
        digest=data.digest,
        types={str(name): getattr(kind, "kind", "O") for name, kind in data.frame.dtypes.items()},
        roles=dict(data.roles),
        labeled=data.y is not None,
        numeric=data.numeric is not None,
    )


def _sizes(data: AuditData, attribute: str) -> tuple[GroupSize, ...]:
    longest = int(data.groups[attribute].str.len().max()) if data.n else 0
    if longest > _MAX:
        raise InputError(
            "data.protected",
            f"must name groups in at most {_MAX:,} letters, but a value of {attribute!r} has {longest:,}",
            advice="take it out there",
        )
    return group_sizes(data, attribute)


def _width(data: AuditData, feature: str) -> int:
    return data.frame[feature].nunique() if data.kinds[feature] == "categorical" else 1


def audited_size(draft: Mapping[str, Any], summary: Summary) -> Size:
    """Return how large an audit of the draft's people is: of those held out where a model is trained here."""
    trained = draft["spec"]["model"].get("train")
    share = float(draft["spec"]["data"].get("test_size", 0.3)) if trained else 1.0
    groups = {
        name: {size.value: round(share * size.people) for size in sizes}
        for name, sizes in summary.groups.items()
    }
    return Size(rows=round(share * summary.rows), width=summary.width, trained=trained, groups=groups)
