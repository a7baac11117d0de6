"""Values as senders have them, and as the audit had them: the recodes and names of values of its data.

A monitor of an audit whose data were recoded, or whose values had names (``data.recode``, ``data.labels``),
is sent what the deployed model's own table holds. It keeps both and reads either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audits.data.frames import with_columns
from audits.data.values import text_of
from audits.errors import InputError
from audits.monitor.bundle import MonitorBundle

if TYPE_CHECKING:
    import pandas as pd

    from audits.monitor.profile import BatchContext

_KEPT = "written"  # in `MonitorBundle.about`
_COUNTS = "counts"
_PLAIN = (str, int, float, bool)
_MAX_NAMED = 6


def with_values(bundle: MonitorBundle, section: Mapping[str, Any]) -> MonitorBundle:
    """Return the bundle of an audit with what its spec's `section` of data makes of values."""
    watched = {*bundle.reads, *bundle.about["protected"]}
    kept: dict[str, Any] = {
        part: {name: rule for name, rule in (section.get(part) or {}).items() if name in watched}
        for part in ("recode", "labels")
    }
    counts = section.get("weights")
    if isinstance(counts, Mapping) and counts.get("kind") == "counts":
        counts = counts["column"]
    kept |= {_COUNTS: counts} if isinstance(counts, str) else {}
    if not any(kept.values()):
        return bundle
    return dataclasses.replace(bundle, about={**bundle.about, _KEPT: kept})


def meanings(bundle: MonitorBundle) -> dict[str, dict[str, Any]]:
    """Return by column what each value that may be sent, as text, was in the audit."""
    found: dict[str, dict[str, Any]] = {}
    recodes, names = _stored_maps(bundle)
    for column, rule in recodes.items():
        found[column] = {text_of(old): new for old, new in (rule.get("map") or {}).items()}
    for column, means in names.items():
        named = {text_of(value): meaning for value, meaning in means.items()}
        own = found.setdefault(column, {})
        for text, new in own.items():
            own[text] = named.get(text_of(new), new) if new is not None else None
        for text, meaning in named.items():
            own.setdefault(text, meaning)
    return {column: own for column, own in found.items() if own}


def as_audited(
    bundle: MonitorBundle, columns: Mapping[str, Sequence[Any]], sent: BatchContext
) -> tuple[dict[str, list[Any]], BatchContext]:
    """Return people's columns, and what was sent beside them, as the audit had the values.

    Values that are so already are left.
    """
    known = meanings(bundle)
    made = {name: _map_values(values, known.get(name)) for name, values in columns.items()}
    protected = {
        name: bundle.group_names(name, _map_values(values, known.get(name)))
        for name, values in sent.protected.items()
    }
    return made, dataclasses.replace(sent, protected=protected)


def people_in_order(bundle: MonitorBundle, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table that is to be replayed, as the audited one was read.

    Raises
    ------
    InputError
        If its rows stand for several people each: nobody knows who came when.
    """
    counts = (bundle.about.get(_KEPT) or {}).get(_COUNTS)
    if counts in frame and (frame[counts] != 1).any():
        advice = "replay a table of one row a person"
        raise InputError("ROWS", f"count people in {counts!r}, so who came when is not known", advice=advice)
    return frame_as_audited(bundle, frame)


def frame_as_audited(bundle: MonitorBundle, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table as the audited one was read, with the columns that were made from others made too."""
    from audits.data import data_spec
    from audits.data.preprocessing.filters import apply_recodes

    recodes, _ = _stored_maps(bundle)
    rules = data_spec({"recode": dict(recodes)}).recode if recodes else {}
    for name, rule in rules.items():
        needed = {each.column for each in rule.where} if rule.is_group else {rule.source or name}
        other = name not in frame or (not rule.is_group and rule.source in {None, name})
        if other and not rule.rows and needed <= set(frame.columns):
            frame, _ = apply_recodes(frame, {name: rule})
    made = {
        name: type(frame[name])(_map_values(frame[name].astype(object).tolist(), known), index=frame.index)
        for name, known in meanings(bundle).items()
        if name in frame
    }
    return with_columns(frame, made)


def written_words(bundle: MonitorBundle) -> list[str]:
    """Return in words what may be sent for columns that the audit recoded or named the values of."""
    recodes, names = _stored_maps(bundle)
    said = []
    for column, rule in recodes.items():
        if rule.get("map"):
            source = rule.get("from") or column
            made = f"{column} was made from {source}" if source != column else f"{column} was recoded"
            said.append(f"{made} ({_pairs(rule['map'])}): values from before and after are both accepted.")
        else:
            said.append(
                f"{column} is a group created in the audit: send its members as {column!r}, others as "
                "'everyone else'."
            )
    for column, means in names.items():
        said.append(f"{column} has names for values ({_pairs(means)}): both are accepted.")
    return said


def _stored_maps(bundle: MonitorBundle) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    kept = bundle.about.get(_KEPT) or {}
    return kept.get("recode") or {}, kept.get("labels") or {}


def _map_values(values: Sequence[Any], known: Mapping[str, Any] | None) -> list[Any]:
    if not known:
        return values if isinstance(values, list) else list(values)
    return [known.get(text_of(each), each) if type(each) in _PLAIN else each for each in values]


def _pairs(means: Mapping[Any, Any]) -> str:
    shown = [f"{text_of(old)}: {'missing' if new is None else text_of(new)}" for old, new in means.items()]
    more = f", and {len(shown) - _MAX_NAMED} more" if len(shown) > _MAX_NAMED else ""
    return ", ".join(shown[:_MAX_NAMED]) + more
