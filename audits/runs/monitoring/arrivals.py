"""Batches of predictions as they arrive: JSON, Arrow, or files."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audits.checks import choices, whole_text
from audits.data import read_table
from audits.data.rows import columns_of
from audits.data.values import text_of
from audits.errors import InputError
from audits.runs.monitoring.monitors import MOST_PEOPLE, Batch, KeptMonitor
from audits.runs.monitoring.scoring import Scorer
from audits.runs.monitoring.written import as_audited
from audits.sensitivity.monitor.profile import Sent

__all__ = [
    "Arrival",
    "FileReader",
    "file_batches",
    "read_arrow",
    "read_file",
    "read_file_here",
    "read_json",
    "read_object",
    "read_outcomes",
]

_LONGEST_ID = 200
_MOST_BYTES = 64_000_000  # of an Arrow batch once decompressed
_ROW = re.compile(r"(?:rows|ids|persons|scores|decisions)\[(?P<row>\d+)\](?:\.(?P<column>.+))?", re.DOTALL)
_KEYS = ("rows", "ids", "at", "persons", "scores", "decisions", "protected")
_PROTECTED = "protected."  # begins the names of columns with protected attributes in tables
_BESIDE = ("id", "person", "score", "decision")  # columns of tables that are no features
_MOST_ATTRIBUTES = 20


@dataclass(frozen=True, eq=False)
class Arrival:
    """People to be measured, as columns; the sender's ids, time, and what else was said of them."""

    columns: dict[str, list[Any]]
    people: int
    ids: tuple[str, ...] = ()
    at: str = ""
    sent: Sent = field(default_factory=Sent)


def read_json(body: bytes, reads: Sequence[str]) -> Arrival:
    """Read ``{"rows": [{column: value}], "ids": [text], "at": time, …}``; all but the rows may be left out.

    Also ``persons``, ``scores``, ``decisions`` (lists, an entry a row) and ``protected`` (lists by
    attribute).

    Raises
    ------
    InputError
        If it is no such JSON: names the key, row and column at fault.
    """
    document = read_object(body, _KEYS, "rows")
    rows = document["rows"]
    if not isinstance(rows, list):
        raise InputError("rows", "must be a list of objects", rows)
    _check_size(len(rows))
    ids, at, n = _ids(document.get("ids"), len(rows)), _at(document.get("at")), len(rows)
    protected = document.get("protected")
    if protected is not None and not isinstance(protected, dict):
        raise InputError("protected", "must be an object of attributes to lists of texts", protected)
    sent = _sent(
        document.get("persons"), document.get("scores"), document.get("decisions"), protected or {}, n
    )
    return Arrival(columns_of(rows, reads), n, ids, at, sent)


def read_outcomes(body: bytes) -> dict[str, bool]:
    """Read ``{"outcomes": {id: true or false}}``: whether each was the favourable one.

    Raises
    ------
    InputError
        If it is no such JSON.
    """
    outcomes = read_object(body, ("outcomes",), "outcomes")["outcomes"]
    if not isinstance(outcomes, dict):
        raise InputError("outcomes", "must be an object of your ids to true or false", outcomes)
    if not 1 <= len(outcomes) <= MOST_PEOPLE:
        raise InputError("outcomes", f"must hold from 1 to {MOST_PEOPLE:,} ids", len(outcomes))
    _ids(list(outcomes), len(outcomes))
    for identity, outcome in outcomes.items():
        if outcome not in (0, 1) or isinstance(outcome, float):
            raise InputError(f"outcomes[{identity!r}]", "must be true or false", outcome)
    return {identity: bool(outcome) for identity, outcome in outcomes.items()}


def read_object(body: bytes, known: Sequence[str], *needed: str) -> dict[str, Any]:
    """Read a JSON object that has some of the keys `known` and all those `needed`.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        text = body.decode("utf-8-sig")
        document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        if "digits" in str(error):  # Python reads whole numbers of at most 4,300 digits
            raise InputError("the body", "must hold numbers that are not this large") from None
        raise InputError("the body", f"must be JSON in UTF-8 ({str(error)[:120]})") from None
    whole_text("the body", body, document)
    if not isinstance(document, dict) or not all(name in document for name in needed):
        shape = f'{{"{needed[0]}": [...]}}' if needed == ("rows",) else f"with {choices(needed or known)}"
        raise InputError("the body", f"must be an object {shape}")
    strange = [key[:_LONGEST_ID] for key in document if key not in known]
    if strange:
        raise InputError(
            "the body", f"has unknown keys {choices(strange)}", advice=f"known are {choices(known)}"
        )
    return document


def _sent(persons: Any, scores: Any, decisions: Any, protected: Mapping[str, Any], people: int) -> Sent:
    """Check what was said beside the rows.

    Raises
    ------
    InputError
        Naming the entry at fault.
    """
    if len(protected) > _MOST_ATTRIBUTES:
        raise InputError("protected", f"must hold at most {_MOST_ATTRIBUTES} attributes", len(protected))
    groups = {}
    for name, values in protected.items():
        _ids([name], 1)
        listed = _listed(f"protected.{name}", values, people)
        texts = [
            "" if each is None else text_of(each) if not isinstance(each, str) else each for each in listed
        ]
        checked = _ids(texts, people, f"protected.{name}")
        groups[name] = tuple(each or None for each in checked)
    return Sent(
        tuple(_chance(each, place) for place, each in enumerate(_listed("scores", scores, people))),
        tuple(_yes(each, place) for place, each in enumerate(_listed("decisions", decisions, people))),
        _ids(persons, people, "persons"),
        groups,
    )


def _listed(where: str, values: Any, people: int) -> list[Any]:
    if values is None:
        return []
    if not isinstance(values, list) or len(values) != people:
        raise InputError(where, f"must be a list of {people:,} entries, one a row")
    return values


def _chance(value: Any, place: int) -> float | None:
    if value is None or value != value:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InputError(
            f"scores[{place}]",
            "must be the probability of the favourable outcome, from 0 to 1, or null",
            value,
        )
    return float(value)


def _yes(value: Any, place: int) -> bool | None:
    if value is None or value != value:
        return None
    if value not in (0, 1):
        raise InputError(f"decisions[{place}]", "must be true (favourable), false or null", value)
    return bool(value)


def read_arrow(body: bytes, reads: Sequence[str]) -> Arrival:
    """Read an Arrow IPC stream or file with exactly the columns `reads`, and ``id`` if the sender likes.

    Raises
    ------
    InputError
        If it is no Arrow, too large once decompressed, or has other columns.
    """
    import pyarrow as pa

    try:
        source = pa.BufferReader(body)
        opened = pa.ipc.open_file(source) if body[:6] == b"ARROW1" else pa.ipc.open_stream(source)
        if isinstance(opened, pa.ipc.RecordBatchFileReader):
            parts = (opened.get_batch(k) for k in range(opened.num_record_batches))
        else:
            parts = iter(opened)
        kept, people, size = [], 0, 0
        for part in parts:
            people, size = people + part.num_rows, size + part.nbytes
            if people > MOST_PEOPLE or size > _MOST_BYTES:
                break
            kept.append(part)
        _check_size(people)
        if size > _MOST_BYTES:
            raise InputError("the body", f"must decompress to at most {_MOST_BYTES // 10**6} MB")
        table = pa.Table.from_batches(kept, schema=opened.schema)
        table.validate(full=True)  # texts that end before they begin would be read out of bounds
    except (pa.ArrowException, OSError, ValueError, SystemError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("the body", f"must be an Arrow stream ({str(error)[:120]})") from None

    def values(name: str) -> list[Any]:
        try:
            return table.column(name).to_pylist()
        except (
            pa.ArrowException,
            ValueError,
            OverflowError,
            SystemError,
        ) as error:  # a text or date that is none
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
        found = frame[name].astype(object).where(frame[name].notna(), None).tolist()
        # one text among numbers makes texts of them all: the one is to be named
        return [_number(value) for value in found] if name in numbers else found

    with _rows_as_in_files(0):
        return _arrival(list(frame.columns), values, len(frame), reads)


def read_file_here(path: Path, reads: Sequence[str], numbers: frozenset[str]) -> tuple[Arrival, str]:
    """Read a file of one's own in this process: `read_file`, and the digest of its bytes."""
    return read_file(path, reads, numbers), hashlib.sha256(path.read_bytes()).hexdigest()


def file_batches(
    monitor: KeptMonitor, path: Path, scorer: Scorer, read: FileReader = read_file_here
) -> list[Batch]:
    """Have `scorer` measure the people in a file; return them as batches, ready to be stored.

    Each batch goes under a key made from the file's content, so that the same content is counted once.
    `read` opens the file; a server gives one that does so in a process with limits.

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
    for place, start in enumerate(range(0, arrival.people, MOST_PEOPLE)):
        rows = slice(start, start + MOST_PEOPLE)
        part = {name: column[rows] for name, column in columns.items()}
        with _rows_as_in_files(start):
            scored = scorer.score(monitor.id, bundle, part, min(MOST_PEOPLE, arrival.people - start))
        key = f"file:{digest}:{place}"
        source = _printable(path.name)
        look, sent = bundle.look(scored), told.part(rows)
        more: dict[str, Any] = {"source": source, "look": look, "sent": sent, "columns": part}
        batches.append(Batch(monitor.id, scored, digest, key, arrival.ids[rows], **more))
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
        where = f"row {int(found['row']) + start + 1:,}, column {found['column'] or 'id'},"
        rest = str(error).removeprefix(f"{error.where} ").removesuffix(".")
        raise InputError(where, rest) from None


def _arrival(names: Sequence[str], values: Any, people: int, reads: Sequence[str]) -> Arrival:
    """Pick the columns that are read; another one than ``id`` is an error, as is a missing one."""
    twice = sorted({name[:_LONGEST_ID] for name, count in Counter(names).items() if count > 1})
    if twice:
        raise InputError("the batch", f"has several columns named {choices(twice)}")
    missing = [name for name in reads if name not in names]
    if missing:
        raise InputError("the batch", f"lacks {choices(missing)}")
    extra = [
        name
        for name in names
        if name not in reads and name not in _BESIDE and not name.startswith(_PROTECTED)
    ]
    if extra:
        extra = [name[:_LONGEST_ID] for name in extra]
        raise InputError("the batch", f"has columns that are not read: {choices(extra)}")
    ids = values("id") if "id" in names and "id" not in reads else None
    if ids is not None:
        ids = ["" if each is None else str(each) for each in ids]
    beside = {name: values(name) for name in _BESIDE[1:] if name in names and name not in reads}
    persons = beside.get("person")
    if persons is not None:
        persons = ["" if each is None else str(each) for each in persons]
    protected = {
        name.removeprefix(_PROTECTED): values(name)
        for name in names
        if name.startswith(_PROTECTED) and name not in reads
    }
    sent = _sent(persons, beside.get("score"), beside.get("decision"), protected, people)
    return Arrival({name: values(name) for name in reads}, people, _ids(ids, people), sent=sent)


def _check_size(people: int) -> None:
    if not 1 <= people <= MOST_PEOPLE:
        advice = "send several batches" if people else "send at least one person"
        raise InputError("rows", f"must hold from 1 to {MOST_PEOPLE:,} people", people, advice)


def _ids(ids: Any, people: int, where: str = "ids") -> tuple[str, ...]:
    if ids is None:
        return ()
    if not isinstance(ids, list) or len(ids) != people:
        raise InputError(where, f"must be a list of {people:,} texts, one a row")
    for place, each in enumerate(ids):
        # what cannot be printed cannot be stored either: half characters, and a zero in PostgreSQL
        if not isinstance(each, str) or len(each) > _LONGEST_ID or not each.isprintable():
            raise InputError(
                f"{where}[{place}]", f"must be printable text of at most {_LONGEST_ID} characters", each
            )
    return tuple(ids)


def _at(at: Any) -> str:
    if at is None:
        return ""
    try:
        moment = datetime.fromisoformat(at if isinstance(at, str) else "")
        moment.timestamp()
    except (ValueError, OverflowError):
        raise InputError("at", "must be a time such as 2024-05-31T12:00:00+00:00", at) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; of a key given twice nobody knows which value was meant."""
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise InputError("the body", "must not give a key twice in one object", twice[:_LONGEST_ID])
    return found


def _no_constant(text: str) -> float:
    raise InputError("the body", "must hold numbers that JSON has; send null for a missing one", text)


def _printable(name: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in name[:200])
