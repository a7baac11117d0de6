"""Batches of predictions as they come in: JSON, Arrow, or files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    TypeAdapter,
    ValidationError,
)

from audits.checks import keys_once, whole_text
from audits.data import read_table
from audits.data.row_encoder import columns_of
from audits.data.values import text_of, truth_values
from audits.errors import InputError
from audits.monitor.batches import Batch
from audits.monitor.monitors import MAX_PEOPLE, StoredMonitor
from audits.monitor.profile import BatchContext
from audits.monitor.recoding import as_audited
from audits.monitor.scoring import Scorer
from audits.text import join_names

_MAX_ID = 200
_MAX_BYTES = 64_000_000  # of an Arrow batch once decompressed
_ROW = re.compile(r"(?P<list>[a-z]+s|protected\..+)\[(?P<row>\d+)\](?:\.(?P<column>.+))?", re.DOTALL)
_PROTECTED = "protected."  # begins the names of columns with protected attributes in tables
_BESIDE = ("id", "person", "score", "decision")  # columns of tables that are no features


def _printable(text: str) -> str:
    # what cannot be printed cannot be stored either: half characters, and a zero in PostgreSQL
    if not text.isprintable():
        raise ValueError("must be printable text")
    return text


def _boolean(value: Any) -> Any:
    return bool(value) if value in (0, 1) else _null(value)


def _outcome(value: Any) -> Any:
    return value if isinstance(value, float) else _boolean(value)


def _null(value: Any) -> Any:
    return None if value != value else value  # not a number


def utc_moment(text: str) -> datetime:
    """Return a date or time, of UTC unless it says otherwise; raise ValueError if it is none."""
    try:
        moment = datetime.fromisoformat(text)
        moment.timestamp()
    except (ValueError, OverflowError):
        raise ValueError("must be a time such as 2024-05-31T12:00:00+00:00") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _moment(text: str) -> str:
    return utc_moment(text).isoformat()


def _group(value: Any) -> Any:
    return value if value is None or isinstance(value, str | list | dict) else text_of(value)


_Model = TypeVar("_Model", bound=BaseModel)


def _or_empty(value: Any) -> Any:
    return [] if value is None else value


Identifier = Annotated[str, Field(max_length=_MAX_ID), AfterValidator(_printable)]
Score = Annotated[float | None, Field(ge=0, le=1), BeforeValidator(_null)]
Decision = Annotated[bool | None, BeforeValidator(_boolean)]
Group = Annotated[Identifier | None, BeforeValidator(_group)]
Identifiers = Annotated[list[Identifier], FailFast(), BeforeValidator(_or_empty)]
Scores = Annotated[list[Score], FailFast(), BeforeValidator(_or_empty)]
Decisions = Annotated[list[Decision], FailFast(), BeforeValidator(_or_empty)]
Groups = Annotated[list[Group], FailFast()]


class _RowContext(BaseModel):
    """What may be sent beside the rows, an entry a row."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ids: Identifiers = Field([], description="Your own ids, one per row; kept for flagged people.")
    persons: Identifiers = Field(
        [], description="Which person each row is about; counted once in the monitor's window."
    )
    scores: Scores = Field([], description="The deployed model's own probability of the favorable outcome.")
    decisions: Decisions = Field([], description="Whether the decision was favorable.")
    protected: Annotated[dict[Identifier, Groups], BeforeValidator(lambda value: value or {})] = Field(
        {}, max_length=20, description="For each protected attribute, the value of each row."
    )

    def sent(self, people: int) -> BatchContext:
        """Return what was sent beside `people` rows.

        Raises
        ------
        InputError
            If a list has another length.
        """
        lists = {name: getattr(self, name) for name in ("ids", "persons", "scores", "decisions")}
        given = {name: values for name, values in lists.items() if values}
        for name, values in (
            given | {f"protected.{key}": own for key, own in self.protected.items()}
        ).items():
            if len(values) != people:
                raise InputError(name, f"must be a list of {people:,} entries, one per row")
        return BatchContext(
            tuple(self.scores),
            tuple(self.decisions),
            tuple(self.persons),
            {name: tuple(each or None for each in values) for name, values in self.protected.items()},
        )


class PredictionBatch(_RowContext):
    """A batch of predictions."""

    rows: Annotated[list[dict[str, Any]], FailFast()] = Field(
        [],
        max_length=MAX_PEOPLE,
        description="Each with exactly the columns that the monitor reads; omit if it reads none.",
        json_schema_extra={
            "items": {
                "type": "object",
                "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
            }
        },
    )
    at: Annotated[str, AfterValidator(_moment)] | None = Field(
        None, description="Your time; the server uses its own."
    )


class OutcomeBatch(BaseModel):
    """OutcomeBatch by the sender's ids: whether each was the favorable one."""

    model_config = ConfigDict(extra="forbid", strict=True)

    outcomes: dict[Identifier, Annotated[bool, BeforeValidator(_outcome)]] = Field(
        min_length=1, max_length=MAX_PEOPLE
    )


@dataclass(frozen=True, eq=False)
class Arrival:
    """People to be measured, as columns; the sender's ids, time, and what else was said of them."""

    columns: dict[str, list[Any]]
    people: int
    ids: tuple[str, ...] = ()
    at: str = ""
    sent: BatchContext = field(default_factory=BatchContext)


ARRIVALS = TypeAdapter(Arrival)
"""Makes an `Arrival` again of what `dataclasses.asdict` made plain and JSON carried."""


def read_json(body: bytes, reads: Sequence[str]) -> Arrival:
    """Read a `PredictionBatch` whose rows have exactly the columns `reads`.

    Raises
    ------
    InputError
        If it is none: names the key, row and column at fault.
    """
    batch = parse_document(PredictionBatch, strict_json(body))
    n = len(batch.rows if reads else batch.scores or batch.decisions)
    _check_size(n)
    sent = batch.sent(n)
    return Arrival(columns_of(batch.rows, reads), n, tuple(batch.ids), batch.at or "", sent)


def read_outcomes(body: bytes) -> dict[str, bool]:
    """Read `OutcomeBatch`.

    Raises
    ------
    InputError
        If it is no such JSON.
    """
    return parse_document(OutcomeBatch, strict_json(body)).outcomes


def strict_json(body: bytes) -> Any:
    """Read JSON in UTF-8 without numbers that JSON has not, half characters, or a key given twice.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        text = body.decode("utf-8-sig")
        document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=keys_once)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:  # Python reads whole numbers of at most 4,300 digits
        raise InputError("the body", f"must be JSON in UTF-8 ({str(error)[:120]})") from None
    whole_text("the body", body, document)
    return document


def parse_document(model: type[_Model], document: Any) -> _Model:
    """Return `document` as `model` has it.

    Raises
    ------
    InputError
        Naming the first value at fault.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise fault_of(error.errors(include_url=False, include_context=False)[0]) from None


def fault_of(error: Mapping[str, Any]) -> InputError:
    """Return one of Pydantic's errors as the project's."""
    where = ""
    for part in error["loc"]:
        where += f"[{part}]" if isinstance(part, int) else f"{'.' * bool(where)}{str(part)[:_MAX_ID]}"
    rule = re.sub(r"^(Value error, must|[A-Z]\w+ should)", "must", str(error["msg"]))
    rule = {"extra_forbidden": "is unknown", "missing": "is missing"}.get(error["type"], rule)
    value = error["input"]
    shown = isinstance(value, str | int | float | bool) and error["type"] not in {"extra_forbidden"}
    return InputError(where or "the body", rule, *([str(value)[:_MAX_ID]] if shown else []))


def read_arrow(body: bytes, reads: Sequence[str]) -> Arrival:
    """Read an Arrow IPC stream or file with exactly the columns `reads`, and ``id`` if the sender likes.

    Call it where memory is limited: nobody knows how large a body becomes before it is decompressed.

    Raises
    ------
    InputError
        If it is no Arrow, too large once decompressed, or has other columns.
    """
    import pyarrow as pa

    try:
        source = pa.BufferReader(body)
        opened = pa.ipc.open_file(source) if body[:6] == b"ARROW1" else pa.ipc.open_stream(source)
        table = opened.read_all()
        _check_size(table.num_rows)
        if table.nbytes > _MAX_BYTES:
            raise InputError("the body", f"must decompress to at most {_MAX_BYTES // 10**6} MB")
        table.validate(full=True)  # texts that end before they begin would be read out of bounds
    except (pa.ArrowException, OSError, ValueError, SystemError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("the body", f"must be an Arrow stream ({str(error)[:120]})") from None

    def values(name: str) -> list[Any]:
        try:
            return table.column(name).to_pylist()
        except (pa.ArrowException, ValueError, OverflowError, SystemError) as error:
            # a text or date that is none
            raise InputError(f"the column {name!r}", f"cannot be read ({str(error)[:120]})") from None

    return _arrival(table.column_names, values, table.num_rows, reads)


FileReader = Callable[[Path, Sequence[str], frozenset[str]], tuple[Arrival, str]]
"""Reads a file's people given the columns read and those of them with numbers; also gives its digest."""


def read_file(path: Path, reads: Sequence[str], numbers: frozenset[str]) -> Arrival:
    """Read the people in a file with exactly the columns `reads`, and ``id`` if there is one.

    Raises
    ------
    InputError
        If the file cannot be read, or has other columns.
    """
    frame = read_table(path).frame
    if frame.empty:
        raise InputError(path.name, "has no rows")

    def values(name: str) -> list[Any]:
        column = truth_values(frame[name]) if name == "decision" else frame[name]
        found = column.astype(object).where(column.notna(), None).tolist()
        # one text among numbers makes texts of them all: the one is to be named
        return [_number(value) for value in found] if name in numbers else found

    with _rows_as_in_files(0):
        return _arrival(list(frame.columns), values, len(frame), reads)


def file_batches(monitor: StoredMonitor, path: Path, scorer: Scorer, read: FileReader) -> list[Batch]:
    """Have `scorer` measure the people in a file; return them as batches, ready to be stored.

    Each batch goes under a key made from the file's content, so that the same content is counted once.
    `read` opens the file in a process with limits.

    Raises
    ------
    InputError
        If the file cannot be read, or any row of it is wrong: none of it is measured then.
    RunFailed
        If the process that measures ended.
    """
    bundle = monitor.bundle
    arrival, digest = read(path, bundle.reads, frozenset(bundle.encoder.numbers))
    columns, told = as_audited(bundle, arrival.columns, arrival.sent)
    batches = []
    for place, start in enumerate(range(0, arrival.people, MAX_PEOPLE)):
        rows = slice(start, start + MAX_PEOPLE)
        more: dict[str, Any] = {
            "sha256": digest,
            "key": f"file:{digest}:{place}",
            "ids": arrival.ids[rows],
            "source": _printable_name(path.name),
            "columns": {name: column[rows] for name, column in columns.items()},
        }
        with _rows_as_in_files(start):
            people = min(MAX_PEOPLE, arrival.people - start)
            scored = scorer.score(monitor.id, bundle, more["columns"], people)
            batches.append(Batch.of(monitor.id, bundle, scored, told.part(rows), **more))
    return batches


def _number(value: Any) -> Any:
    """Return a number written as text as the number, anything else as it is."""
    if isinstance(value, str):
        with suppress(ValueError):
            return float(value)
    return value


@contextmanager
def _rows_as_in_files(start: int) -> Iterator[None]:
    """Name rows as whoever opens the file counts them; `start` rows of it came before these."""
    try:
        yield
    except InputError as error:
        found = _ROW.fullmatch(error.where)
        if found is None:
            raise
        column = found["column"] or (
            found["list"] if found["list"].startswith(_PROTECTED) else found["list"].removesuffix("s")
        )
        where = f"row {int(found['row']) + start + 1:,}, column {column},"
        rest = str(error).removeprefix(f"{error.where} ").removesuffix(".")
        raise InputError(where, rest) from None


def _arrival(names: Sequence[str], values: Any, people: int, reads: Sequence[str]) -> Arrival:
    """Pick the columns that are read; another one than ``id`` is an error, as is a missing one."""
    twice = sorted({name[:_MAX_ID] for name, count in Counter(names).items() if count > 1})
    if twice:
        raise InputError("the batch", f"has several columns named {join_names(twice, quoted=True)}")
    missing = [name for name in reads if name not in names]
    if missing:
        raise InputError("the batch", f"lacks {join_names(missing, quoted=True)}")
    extra = [
        name[:_MAX_ID]
        for name in names
        if name not in reads and name not in _BESIDE and not name.startswith(_PROTECTED)
    ]
    if extra:
        raise InputError("the batch", f"has columns that are not read: {join_names(extra, quoted=True)}")
    beside = {f"{name}s": values(name) for name in _BESIDE if name in names and name not in reads}
    for name in beside.keys() & {"ids", "persons"}:
        beside[name] = ["" if each is None else text_of(each) for each in beside[name]]
    protected = {
        name.removeprefix(_PROTECTED): values(name)
        for name in names
        if name.startswith(_PROTECTED) and name not in reads
    }
    said = parse_document(_RowContext, {**beside, "protected": protected})
    columns = {name: values(name) for name in reads}
    return Arrival(columns, people, tuple(said.ids), sent=said.sent(people))


def _check_size(people: int) -> None:
    if not 1 <= people <= MAX_PEOPLE:
        advice = "send several batches" if people else "send at least one person"
        raise InputError("rows", f"must hold from 1 to {MAX_PEOPLE:,} people", people, advice)


def _no_constant(text: str) -> float:
    raise InputError("the body", "must hold numbers that JSON has; send null for a missing one", text)


def _printable_name(name: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in name[:_MAX_ID])
