"""`build_data`: a table and a spec become the rows an audit works on, nothing lost uncounted."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from audits.data.adapters import given_table
from audits.data.audit_data import AuditData, LeftOut, UnlabeledRows
from audits.data.digests import frame_digest, plain_digest
from audits.data.encoder import MAX_LEVELS
from audits.data.frames import from_pandas, with_columns
from audits.data.io.columns import Markers
from audits.data.io.tables import Table
from audits.data.kinds import Kind, Role, as_kind, infer_kind, level_order
from audits.data.missing_markers import MissingCells
from audits.data.preprocessing.column_names import column_role
from audits.data.preprocessing.exclusions import filtered_out, left_out
from audits.data.preprocessing.filters import apply_recodes, kept_rows, known_column, known_columns, rows_of
from audits.data.preprocessing.groups import edges_of, protected_groups, reasons_told
from audits.data.preprocessing.leakage import leak_notes
from audits.data.preprocessing.missing import drop_incomplete, fill_gaps
from audits.data.preprocessing.outcomes import Outcome, drop_unlabeled, favorable_rows
from audits.data.preprocessing.value_labels import named_values
from audits.data.preprocessing.weights import counts_of, design_of, people_told, weighted_rows
from audits.data.spec import DataSpec, NumericOutcome, check_spec
from audits.data.values import text_of
from audits.errors import InputError

_MANY_GROUPS = 12
_MAX = 1e30  # squares of more are none in 32 bits, sums of squares none in 64

_WHAT_LEAVES_OUT = "check data.keep, data.label and data.missing"


def build_data(table: Table | pd.DataFrame, spec: DataSpec, *, decisions: Sequence[str] = ()) -> AuditData:
    """Apply the `data` section of a spec to a table.

    In this order: recodes, given kinds, row filters, rows without a label, rows that stand for
    nobody, missing values. Every row left out is counted under the first reason that applies. Kinds
    not given are inferred from the rows that pass the filters.

    Parameters
    ----------
    table : Table or DataFrame
        A DataFrame's own index gives the row numbers and must be unique; its texts are taken as
        they are, and an ordered categorical column is ordinal.
    spec : DataSpec
        See there.
    decisions : sequence of str
        Columns that hold what models decided.

    Raises
    ------
    InputError
        Names the key of the spec, the rule, the value and what to do.
    """
    check_spec(spec)
    orders: dict[str, tuple[str, ...]] = {}
    if isinstance(table, Table):
        sha256 = table.report.sha256
    else:
        if not isinstance(table, pd.DataFrame):  # polars, Arrow and others
            table = given_table(table, "table").frame
        table, orders, sha256 = _from_memory(table, spec)
    frame, notes, gathered = table.frame, list(table.report.notes), table.gathered
    times = None if gathered is None else gathered["rows"]
    rows_read = len(frame) if times is None else int(times.sum())
    # a recoded column is what the recode makes of it, not what the file has
    written = MissingCells.of(table.markers, frame.index).without(spec.recode)
    excluded: dict[str, int] = {}
    notes += spec.mended
    frame, leaving = _select_rows(frame, spec, decisions, excluded, notes, times)
    sizes = people_told(frame, spec) if times is None else times
    edges = {name: edges_of(frame[name], bins, sizes) for name, bins in spec.bins.items()}
    notes += [
        f"{name!r} is cut at quantiles: {', '.join(map(text_of, edges[name]))}."
        for name, bins in spec.bins.items()
        if isinstance(bins, int)
    ]
    spec = dataclasses.replace(spec, bins=edges)
    for name in spec.units if times is None else ():  # counted tables hold only what is asked of
        known_column(f"data.units.{name}", name, frame)
    among = _among(frame, spec, notes)
    if among is not None:
        leaving += filtered_out(frame, frame.index.isin(among), spec.among, spec, sizes)
    frame, meant = named_values(frame, spec, orders, counted=times is not None)
    written = dataclasses.replace(written, meant=meant)
    named = frame
    frame, outcome = drop_unlabeled(frame, spec, excluded, times)
    lost = named.loc[named.index.difference(frame.index, sort=False)]
    frame = weighted_rows(frame, spec, excluded, times)
    kinds = _kinds(frame, spec, orders, outcome, times)
    features = _features(frame, spec, kinds, outcome, notes)
    roles = _roles(frame, spec)
    read = tuple(dict.fromkeys(features + spec.protected))
    if spec.missing == "drop":
        whole = frame
        frame = drop_incomplete(frame, read, excluded)
        gone = ~whole.index.isin(frame.index)
        leaving += left_out(whole, gone, spec, "Rows with missing values", sizes, read)
    _refuse_nobody(frame, excluded)
    groups = protected_groups(frame, spec, excluded)
    notes += _group_notes(frame, groups, spec, times)
    y = favorable_rows(frame, outcome)
    _refuse_huge(frame, features)
    counts = counts_of(frame, spec, times)
    if spec.missing == "impute":
        guessed = tuple(name for name in features if name not in decisions)
        frame, lost, filled = fill_gaps(frame, lost, guessed, kinds, counts)
        written = dataclasses.replace(written, filled=filled)
    design = design_of(frame, spec, notes, times)
    notes += _gap_notes(frame, features) + leak_notes(frame, features, y, counts)
    data = AuditData(
        frame=frame,
        kinds=kinds,
        features=features,
        protected=spec.protected,
        groups=groups,
        label=outcome.label,
        favorable=outcome.favorable,
        y=y,
        roles=roles,
        weights=counts,
        design=design,
        missing=spec.missing,
        rows_read=rows_read,
        excluded=excluded,
        imputed={name: len(rows) for name, (rows, _) in written.filled.items()},
        sha256=sha256,
        digest="",
        notes=tuple(dict.fromkeys(notes)),
        orders=_orders(frame, kinds, {**orders, **spec.orders}),
        bins={name: edges[name] for name in spec.protected if name in edges},
        cut=spec.cut,
        numeric=_numeric(spec),
        written=written,
        gathered=None if gathered is None else gathered.loc[frame.index],
        labels={
            name: {text_of(value): said for value, said in means.items()}
            for name, means in spec.labels.items()
        },
        among=among,
        unlabeled=_unlabeled_rows(frame, lost, spec, read, gathered, times),
        left_out=tuple(leaving),
        custom_groups=tuple(name for name in spec.protected if _is_group(spec, name)),
    )
    return dataclasses.replace(data, digest=_digest(data))


def _numeric(spec: DataSpec) -> NumericOutcome | None:
    """Return the outcome of a spec that takes a number as it is; None of any other."""
    if spec.outcome is None or spec.cut is not None:
        return None
    favorable: Literal["high", "low"] = "low" if spec.favorable == "low" else "high"
    return NumericOutcome(favorable, spec.label_column, spec.label_column or "number", spec.units)


def _unlabeled_rows(
    frame: pd.DataFrame,
    lost: pd.DataFrame,
    spec: DataSpec,
    read: tuple[str, ...],
    gathered: pd.DataFrame | None,
    times: pd.Series | None,
) -> UnlabeledRows | None:
    """Return the rows without a label that nothing else leaves out; None where there are none."""
    lost = weighted_rows(lost, spec, {}, times) if len(lost) else lost
    if spec.missing == "drop":
        lost = drop_incomplete(lost, read, {})
    if not len(lost):
        return None
    _refuse_huge(lost, [name for name in read if name not in spec.protected])
    whole = pd.concat([frame, lost])
    return UnlabeledRows(
        frame=lost,
        groups=protected_groups(whole, spec, {}).iloc[len(frame) :],
        weights=counts_of(lost, spec, times),
        gathered=None if gathered is None else gathered.loc[lost.index],
        design=design_of(whole, spec, [], times),
    )


def _from_memory(frame: pd.DataFrame, spec: DataSpec) -> tuple[Table, dict[str, tuple[str, ...]], str]:
    """Return a frame as a table, the orders of its categories, and its digest."""
    table, orders = from_pandas(frame, spec.read.missing)
    told = {"protected": spec.protected, "features": spec.features or (), "label": (spec.label_column,)}
    for key, names in told.items():
        unread = [name for name in names if name in frame.columns and name not in table.frame.columns]
        if unread:
            held = type(frame[unread[0]].dropna().iloc[0]).__name__
            advice = (
                "decode them: X[column].str.decode('utf-8')" if held == "bytes" else "make it plain values"
            )
            rule = f"must name columns of numbers, texts or dates, and {unread[0]!r} holds {held}"
            raise InputError(f"data.{key}", rule, advice=advice)
    sha256 = frame_digest(table.frame)
    if table.markers:  # a file's bytes tell ? from NA, a frame of missing values does not
        markers = {name: table.markers.get(name, Markers()).plain() for name in map(str, table.frame)}
        sha256 = plain_digest(sha256, markers)
    return table, orders, sha256


def _select_rows(
    frame: pd.DataFrame,
    spec: DataSpec,
    decisions: Sequence[str],
    excluded: dict[str, int],
    notes: list[str],
    times: pd.Series | None,
) -> tuple[pd.DataFrame, list[LeftOut]]:
    """Apply recodes, given kinds and row filters; return whom the filters leave out."""
    frame, said = apply_recodes(frame, spec.recode)
    made = {}
    for name, kind in spec.kinds.items():
        known_column("data.kinds", name, frame)
        made[name] = as_kind(frame[name], kind, f"data.kinds.{name}")
    frame = with_columns(frame, made)
    known_columns("data.protected", spec.protected, frame)
    kept, reasons, more = kept_rows(frame, spec.keep, times)
    excluded.update(reasons)
    notes += said + more
    sizes = people_told(frame, spec) if times is None else times
    leaving = [*filtered_out(frame, kept, spec.keep, spec, sizes, decisions)]
    frame = frame[kept]
    if spec.repeated == "drop":
        if times is not None:
            raise InputError(
                "data.repeated",
                "cannot be found in a table that is counted batch by batch",
                "drop",
                "leave the repeated rows out of the file",
            )
        again = frame.duplicated().to_numpy()
        if again.any():
            excluded["it repeats another row in every column"] = rows_of(again, frame, times)
            frame = frame[~again]
    _refuse_nobody(frame, excluded)
    return frame, leaving


def _among(frame: pd.DataFrame, spec: DataSpec, notes: list[str]) -> pd.Index | None:
    """Return the rows of those who are audited; None where everyone is."""
    if not spec.among:
        return None
    inside, reasons, more = kept_rows(frame, spec.among, where="data.among")
    notes += more
    if not inside.any():
        why = f"leaves nobody to audit ({reasons_told(reasons)})"
        raise InputError("data.among", why, advice="choose other conditions")
    return frame.index[inside]


def _refuse_nobody(frame: pd.DataFrame, excluded: Mapping[str, int]) -> None:
    if not len(frame):
        raise InputError("data", f"leaves no rows ({reasons_told(excluded)})", advice=_WHAT_LEAVES_OUT)


def _kinds(
    frame: pd.DataFrame,
    spec: DataSpec,
    orders: Mapping[str, tuple[str, ...]],
    outcome: Outcome,
    times: pd.Series | None,
) -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for name in frame.columns:
        if name in spec.kinds:
            kinds[name] = spec.kinds[name]
        elif name in orders and (name not in spec.recode or name in spec.labels):
            kinds[name] = "ordinal"
        else:
            rows = None if times is None else rows_of(frame[name].notna().to_numpy(), frame, times)
            kinds[name] = infer_kind(frame[name], rows)
    if spec.cut is not None and outcome.label is not None:
        kinds[outcome.label] = "boolean"
    return kinds


def _features(
    frame: pd.DataFrame, spec: DataSpec, kinds: Mapping[str, Kind], outcome: Outcome, notes: list[str]
) -> tuple[str, ...]:
    """Return the feature columns; by default those that a model can use without being told the answer."""
    if spec.features is not None:
        known_columns("data.features", spec.features, frame)
        if spec.label in spec.features:
            raise InputError("data.features", "must not hold the label", spec.label, "remove it there")
        return spec.features
    # who was put into a group says nothing of a person that a model should learn from
    named = {name for name in spec.recode if _is_group(spec, name)}
    apart = {outcome.label, *spec.design_columns, *spec.protected, spec.label_column, *named}
    left_out: dict[str, list[str]] = {}
    for name in (name for name in frame.columns if name not in apart):
        left_out.setdefault(_why_no_feature(frame[name], kinds[name]), []).append(name)
    chosen = left_out.pop("", [])
    notes += [f"Not used as features ({why}): {', '.join(names)}." for why, names in left_out.items()]
    for name, recode in spec.recode.items():
        if name in spec.protected and recode.source in chosen:
            notes.append(f"{recode.source!r}, from which {name!r} was recoded, is among the features.")
    return tuple(chosen)


def _is_group(spec: DataSpec, name: str) -> bool:
    return name in spec.recode and spec.recode[name].is_group


def _why_no_feature(column: pd.Series, kind: Kind) -> str:
    """Return why a column is no feature unless it is named as one; "" where it is."""
    if kind in {"identifier", "text"}:
        return "identifiers" if kind == "identifier" else "free text"
    if column_role(str(column.name)) is not None:
        return "stored results, judging by their names"
    if column.isna().all():
        return "without values"
    return f"over {MAX_LEVELS} categories" if kind == "categorical" and column.nunique() > MAX_LEVELS else ""


def _roles(frame: pd.DataFrame, spec: DataSpec) -> dict[str, Role]:
    roles: dict[str, Role] = dict.fromkeys(spec.protected, "immutable")
    for role, columns in spec.roles.items():
        for name in columns:
            roles[known_column(f"data.roles.{role}", name, frame)] = role
    return roles


def _orders(
    frame: pd.DataFrame, kinds: Mapping[str, Kind], given: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    ordinal = [name for name, kind in kinds.items() if kind == "ordinal"]
    return {name: level_order(frame[name], given.get(name), f"data.orders.{name}") for name in ordinal}


def _refuse_huge(frame: pd.DataFrame, features: Sequence[str]) -> None:
    for name in features:
        if pd.api.types.is_float_dtype(frame[name].dtype):
            values = frame[name].to_numpy()
            beyond = np.abs(values) > _MAX
            if beyond.any():
                first = int(np.argmax(beyond))
                rule = "must be finite" if np.isinf(values[first]) else f"must be at most {_MAX:g} in size"
                advice = "list it in read.missing, or leave the column out of data.features"
                place = f"column {name!r}, row {frame.index[first]}"
                raise InputError(place, rule, text_of(values[first]), advice)


def _group_notes(
    frame: pd.DataFrame, groups: pd.DataFrame, spec: DataSpec, times: pd.Series | None
) -> list[str]:
    notes = []
    for name in groups.columns:
        absent = rows_of(frame[name].isna().to_numpy(), frame, times)
        if absent:
            rows = "1 row has" if absent == 1 else f"{absent:,} rows have"
            notes.append(f"{rows} no value for {name!r}: a separate group.")
        found = groups[name].nunique()
        if (
            name not in spec.bins
            and pd.api.types.is_numeric_dtype(frame[name].dtype)
            and found > _MANY_GROUPS
        ):
            notes.append(f"{name!r} makes {found} groups, one per number; data.bins would cut it into fewer.")
    return notes


def _gap_notes(frame: pd.DataFrame, features: Sequence[str]) -> list[str]:
    gaps = frame[list(features)].isna().sum()
    shown = [f"{name} {count:,}" for name, count in gaps[gaps > 0].items()]
    notes = []
    if shown:
        more = f" and {len(shown) - 8} more columns" if len(shown) > 8 else ""
        notes.append(f"Missing values kept as a separate category: {', '.join(shown[:8])}{more}.")
    return notes


def _digest(data: AuditData) -> str:
    about = [
        dict(data.kinds),
        data.features,
        data.protected,
        data.label,
        [text_of(value) for value in data.favorable],
        dict(data.roles),
        data.missing,
        data.rows_read,
        dict(data.excluded),
        dict(data.imputed),
        {name: list(order) for name, order in data.orders.items()},
    ]
    if data.numeric is not None:
        about.append(plain_digest("numeric", data.numeric.favorable, data.numeric.column))
    if data.design is not None:
        about.append(
            plain_digest(
                *(
                    frame_digest(pd.DataFrame({"values": part}))
                    for part in (data.design.weights, data.design.cluster, data.design.stratum)
                )
            )
        )
    weights = None if data.weights is None else frame_digest(pd.DataFrame({"weights": data.weights}))
    return plain_digest(frame_digest(data.frame), frame_digest(data.groups), weights, data.sha256, *about)
