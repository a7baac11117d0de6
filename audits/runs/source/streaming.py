"""A table whose people are counted batch by batch instead of being held: what is counted, where it is cut.

Filters, recodes, label, groups, weights and thresholds are then applied to the counts by the code that
applies them to rows, so that the numbers are those of the table read whole.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from audits.checks import one_of
from audits.data import AuditData, Table, build_data, read_table
from audits.data.groupby import MAX_VALUES, Asked, Quantiles, TooMany, count_rows, values_at
from audits.data.io.large_table import LargeTable, hold_table, open_table
from audits.data.io.limits import parquet_files
from audits.data.io.tables import ReadReport, build_table
from audits.data.io.typed_tables import convert_typed
from audits.data.preprocessing.filter_query import filter_table, rule_numbers
from audits.errors import InputError, NeedsPeople
from audits.models import ModelSpec, Predictions, Subject, make_subject, model_facts
from audits.models.predictions import no_numbers, no_prediction
from audits.progress import Progress, part
from audits.runs.digests import path_digest
from audits.runs.registry import AUDITS
from audits.runs.result import data_facts
from audits.runs.source.strategy import columns_of_audits

if TYPE_CHECKING:
    from audits.runs.spec import Spec

_TENTHS = np.arange(11) / 10
# bins of ten begin where 10 times a score is whole in its last digit: at 0.3 or 0.9 less a digit, not where
# linspace has them
_SCORE_BINS = np.unique(
    np.concatenate([np.linspace(0, 1, 21), _TENTHS, np.nextafter(_TENTHS, 0), np.linspace(-1, 0, 21)])
)
_LOOKED_AT = 20_000  # rows
_NOTE = (
    "People were counted batch by batch by the columns that the audits need. No row is kept, and other "
    "columns were not read."
)


def count_subject(
    spec: Spec, expected: list[str], progress: Progress
) -> tuple[Subject, dict[str, Any], dict[str, Any]]:
    """Count the people of a spec's table, and return the subject, and what results say of data and model.

    Raises
    ------
    InputError
        If something needs every row, a file has changed since `expected` was taken, or as `build_data`.
    """
    asked = columns_of_audits(spec.data, spec.audits)
    _refuse_groups(spec)
    if spec.digests() != expected:
        raise InputError(
            "data.path", "names a file that changed since the run was requested", advice="run it again"
        )
    progress(0.0, "Opening the data")
    people, read = _open_table(spec, asked)
    cuts: dict[str, np.ndarray] = {}
    plain = dataclasses.replace(spec.data, features=())
    table = _count_people(spec, people, read, asked, cuts, part(progress, 0.05, 0.6))
    data = build_data(table, plain)
    score = str((spec.model.predictions or Predictions()).score)
    if score in cuts and data.gathered is not None and _has_filters(spec):
        ends = float(data.gathered["low"].min()), float(data.gathered["high"].max())
        if ends != people.ends(score) and (ends[0] < -1 or ends[1] > 1):  # bins of the scores of who is left
            cuts[score] = np.union1d(cuts[score], _figure_cuts(spec, *ends))
            table = _count_people(spec, people, read, asked, cuts, part(progress, 0.6, 0.9))
            data = build_data(table, plain)
    _refuse_unscored(data, spec.model)
    subject = make_subject(
        data, spec.model, threshold=spec.threshold, seed=spec.seed, progress=part(progress, 0.9, 1.0)
    )
    facts = data_facts(data, subject, table.report)
    facts["notes"].append(_NOTE)
    model = model_facts(subject)
    if score in cuts and model["quality"] is not None:
        model["quality"]["auc"] = None  # needs the order of all scores
    return subject, facts, model


def _open_table(spec: Spec, asked: Mapping[str, Asked]) -> tuple[LargeTable, ReadReport]:
    """Return the table, and how it was read; text is typed as a whole, in the columns needed."""
    paths = spec.data_paths()
    if parquet_files(paths):
        found = open_table(paths, digest=lambda file: path_digest(file, "data.path", file.name))
        return found, ReadReport(found.files, {})
    table = read_table(
        paths,
        format=spec.data.format,
        options=spec.data.read,
        columns=lambda names: _columns(spec, names, asked),
    )
    whole = pa.Table.from_pandas(table.frame, preserve_index=False)
    return hold_table(whole, table.report.files), table.report


def _count_people(
    spec: Spec,
    people: LargeTable,
    read: ReadReport,
    asked: Mapping[str, Asked],
    cuts: dict[str, np.ndarray],
    progress: Progress,
) -> Table:
    """Count people by the columns needed; those with many values are found out, and added to `cuts`."""
    columns, (where, predicted) = _columns(spec, people.schema.names, asked), _predicted(spec.model)
    scored = predicted if where == "model.predictions.score" else None
    if scored is not None:
        kind = people.schema.field(scored).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise no_numbers(scored)
    for name in _many_values(people, columns):  # refused before anything is counted
        if name not in cuts:
            cuts[name] = _cuts(name, spec, people, asked)
    while True:
        try:
            lines, gathered = count_rows(people, columns, cuts, scored=scored, progress=progress)
            break
        except TooMany as found:
            cuts[found.column] = _cuts(found.column, spec, people, asked)
    converted, notes = convert_typed(lines, markers=spec.data.read.missing)
    frame = build_table(converted, gathered.index).frame
    report = dataclasses.replace(read, notes=(*read.notes, *notes))
    return Table(frame, report, gathered=gathered)


def _many_values(people: LargeTable, columns: Sequence[str]) -> list[str]:
    """Return the columns that have too many values to be counted by value among some rows already."""
    flat = [name for name in columns if not pa.types.is_nested(people.schema.field(name).type)]
    some, _ = people.some(_LOOKED_AT, flat)
    return [name for name in flat if pc.count_distinct(some.column(name)).as_py() > MAX_VALUES]


def _refuse_groups(spec: Spec) -> None:
    """Refuse what is said of single rows, or of who is audited: rows that agree are one here."""
    for key, said in (
        ("data.among", bool(spec.data.among)),
        *((f"data.recode.{name}", recode.is_group) for name, recode in spec.data.recode.items()),
    ):
        if said:
            raise NeedsPeople(
                key,
                "cannot be used where a table is counted batch by batch",
                advice="filter with data.keep: no model is trained here",
            )


def _columns(spec: Spec, names: Sequence[str], asked: Mapping[str, Asked]) -> list[str]:
    """Return the columns of the file to count by; one that a recode makes need not be there."""
    named = [(where, name) for where, name in _columns_used(spec) if name is not None]
    named += [(_asking(spec, name), name) for name in asked]
    named.append(_predicted(spec.model))
    found: dict[str, None] = {}
    for where, name in named:
        if name not in names:
            if name in spec.data.recode:
                continue
            one_of(where, name, names, what="a column of the data")
        found[name] = None
    return list(found)


def _columns_used(spec: Spec) -> Iterator[tuple[str, str | None]]:
    data = spec.data
    for name, recode in data.recode.items():
        yield f"data.recode.{name}.from", recode.source or name
    for name in data.protected:
        yield "data.protected", name
    for place, rule in enumerate(data.keep):
        yield f"data.keep[{place}].column", rule.column
    yield "data.label", data.label_column
    yield "data.weights", None if data.weighing is None else data.weighing.column
    for name in data.kinds:
        yield "data.kinds", name
    for columns in data.roles.values():
        for name in columns:
            yield "data.roles", name


def _asking(spec: Spec, name: str) -> str:
    """Return the audit that asks for a column besides those of the data."""
    return next(
        each.name
        for each in reversed(spec.audits)
        if name in AUDITS[each.name].counted_columns(each.options, spec.data)
    )


def _cuts(name: str, spec: Spec, people: LargeTable, asked: Mapping[str, Asked]) -> np.ndarray:
    """Return the numbers between which all values of a column do the same.

    Raises
    ------
    InputError
        If something needs its single values: says what.
    """
    kind = people.schema.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise _too_many(_where(name, spec), name)
    points: list[float] = []
    for where, need in _needs(name, spec, people, asked):
        if need is None:
            raise _too_many(where, name)
        points += need
    ends = people.ends(name)
    found: np.ndarray = np.unique(np.array([*points, *(ends or ())], dtype=float))
    return found


def _needs(
    name: str, spec: Spec, people: LargeTable, asked: Mapping[str, Asked]
) -> Iterator[tuple[str, Sequence[float] | None]]:
    """Yield where each use of a column cuts it; None for a use of its single values."""
    data, predictions = spec.data, spec.model.predictions
    for made, recode in data.recode.items():
        if (recode.source or made) == name:
            yield f"data.recode.{made}", None
    if name in data.protected:
        yield (
            f"data.protected: {name!r}",
            _group_cuts(data.bins.get(name), _filtered_rows(people, spec), name),
        )
    for place, rule in enumerate(data.keep):
        if rule.column == name:
            yield f"data.keep[{place}]", rule_numbers(rule)
    if data.label == name:
        yield "data.label", None
    elif data.cut is not None and data.cut.column == name:
        yield "data.label", [data.cut.bound]
    if data.weighing is not None and data.weighing.column == name:
        yield "data.weights", None
    if asked.get(name) is not None:
        yield (
            f"{_asking(spec, name)}.bins.{name}",
            _rule_cuts(asked[name], _filtered_rows(people, spec), name),
        )
    if predictions is not None and predictions.label == name:
        yield "model.predictions.label", None
    if predictions is not None and predictions.score == name:
        given = 0.5 if spec.threshold is None else spec.threshold
        numbers = (
            [given] if not isinstance(given, dict) else [n for by in given.values() for n in by.values()]
        )
        low, high = people.ends(name) or (0.0, 1.0)
        yield "model.predictions.score", [*numbers, *_SCORE_BINS.tolist(), *_figure_cuts(spec, low, high)]


def _figure_cuts(spec: Spec, low: float, high: float) -> list[float]:
    """Return the edges that the figure of scores has where they are no probabilities."""
    if low >= -1 and high <= 1:
        return []
    predictions = spec.model.predictions or Predictions()
    sign = -1.0 if predictions.higher_is == "unfavorable" else 1.0
    least, most = sorted((sign * low, sign * high))
    usual = (-1.0, 0.0) if most <= 0 and least < 0 else (0.0, 1.0)
    found: list[float] = (sign * np.linspace(min(least, usual[0]), max(most, usual[1]), 21)).tolist()
    return found


def _rule_cuts(asked: Asked, people: LargeTable | None, name: str) -> Sequence[float] | None:
    """Return the edges of the bins that rules are made of; None where they depend on every value."""
    if isinstance(asked, tuple):
        return asked
    if asked is None or people is None:
        return None
    ends = people.ends(name)
    if ends is None or ends[0] == ends[1]:
        return ()
    from audits.subgroups.binning import number_edges

    kept: list[float] = []
    values, times = np.array(ends), None
    bins, way = (asked.bins, "quantile") if isinstance(asked, Quantiles) else (asked, "width")
    if way == "quantile":
        # each value that quantiles lie between is then a line of its own, and the rows before it are counted:
        # so quantiles of lines are those of rows
        values, times = values_at(people, name, np.linspace(0, 1, bins + 1))
        kept = values.tolist()
    edges = [number_edges(values, bins, way, whole=whole, times=times) for whole in (True, False)]
    return [*kept, *np.concatenate(edges).tolist()]


def _group_cuts(
    bins: Sequence[float] | int | None, people: LargeTable | None, name: str
) -> Sequence[float] | None:
    """Return where groups are cut; of a number of bins the values that its quantiles are among."""
    if not isinstance(bins, int):
        return bins
    return None if people is None else values_at(people, name, np.linspace(0, 1, bins + 1))[0].tolist()


def _filtered_rows(people: LargeTable, spec: Spec) -> LargeTable | None:
    """Return the rows that filters leave; None where that takes more than looking at values.

    Rows without a label stay: rules are about decisions.
    """
    data = spec.data
    if data.weighing is not None or any(rule.column in data.recode for rule in data.keep):
        return None
    return filter_table(people, data.keep, data.read.missing) if data.keep else people


def _has_filters(spec: Spec) -> bool:
    """Return whether rows are left out, so that the ends of a column are not those of the file."""
    return bool(spec.data.keep) or spec.data.label is not None or spec.data.weighing is not None


def _where(name: str, spec: Spec) -> str:
    return next((where for where, used in _columns_used(spec) if used == name), f"column {name!r}")


def _too_many(where: str, name: str) -> NeedsPeople:
    return NeedsPeople(
        where,
        f"must have at most {MAX_VALUES:,} values in a table whose people are counted batch by batch, but "
        f"{name!r} has more",
        advice="cut numbers at edges (data.bins, rule_sets.bins), or group values in the file",
    )


def _predicted(model: ModelSpec) -> tuple[str, str]:
    """Return the key of the spec that names the column of predictions, and that column."""
    predictions = model.predictions or Predictions()  # there are some: `is_counted` has looked
    if predictions.score is not None:
        return "model.predictions.score", predictions.score
    return "model.predictions.label", str(predictions.label)


def _refuse_unscored(data: AuditData, model: ModelSpec) -> None:
    """Refuse people without a finite prediction, and say how many."""
    where, name = _predicted(model)
    column = data.frame[name]
    bad = column.isna().to_numpy()
    if where == "model.predictions.score" and pd.api.types.is_float_dtype(column.dtype):
        bad = bad | ~np.isfinite(column.to_numpy(dtype=float))
    if bad.any():
        assert data.gathered is not None  # noqa: S101
        people = int(data.gathered["rows"].to_numpy()[bad].sum())
        raise no_prediction(where.rpartition(".")[2], name, "none", people, data.rows)
