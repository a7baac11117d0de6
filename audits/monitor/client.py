"""Sends predictions of a service to a monitor in the background: never blocks the service, never fails it.

    from evenhand import Monitor
    monitor = Monitor("https://evenhand.example/api/v1/monitors/ID", TOKEN)
    monitor.send(frame, scores=scores, ids=ids)

Needs nothing but Python's own library. Rows wait in memory, are sent together, and are tried again under the
same key while the server cannot be reached: a batch counts once. When more rows wait than there is room for,
the newest are dropped and counted. What happened is in `sent`, `dropped`, `refused` and `problem`, and in the
log "evenhand".
"""

from __future__ import annotations

import atexit
import contextlib
import datetime
import decimal
import http.client
import json
import logging
import math
import os
import threading
import urllib.error
import urllib.request
import uuid
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

_MAX_TOGETHER = 10_000  # people in a batch, as the server takes them
_MAX_PAUSE = 60.0
_AT_EXIT_SECONDS = 3.0
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504, 507})
_log = logging.getLogger("evenhand")

_PROTECTED = "protected."  # begins what is said by a protected attribute

Part = tuple[list[dict[str, Any]], dict[str, list[Any]]]
"""Rows, and what was said of them, an entry a row."""


class Monitor:
    """Sends predictions to one monitor; safe between threads, and after a fork.

    Parameters
    ----------
    url : str
        The monitor's address: ``https://server/api/v1/monitors/ID``.
    token : str
        One that may send.
    most_waiting : int
        Rows that may wait in memory.
    seconds : float
        How long rows wait for others to be sent with.
    timeout : float
        Seconds that the server has for an answer.

    Attributes
    ----------
    sent, dropped, refused : int
        Rows stored by the server; given up for want of room; refused because something is wrong with them.
    problem : str
        The latest thing that went wrong, in words.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        most_waiting: int = 100_000,
        seconds: float = 1.0,
        timeout: float = 30.0,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url must begin with http:// or https://, got {url!r}")
        self._url = url.rstrip("/").removesuffix("/predictions") + "/predictions"
        self._head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._most, self._seconds, self._timeout = most_waiting, seconds, timeout
        self.sent = self.dropped = self.refused = 0
        self.problem = ""
        self._begin()
        _MADE.add(self)
        atexit.register(self.close, _AT_EXIT_SECONDS)

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[Part] = deque()
        self._waiting = 0
        self._closed = self._hurry = False
        self._thread: threading.Thread | None = None

    def send(
        self,
        rows: Any,
        *,
        ids: Iterable[Any] | None = None,
        persons: Iterable[Any] | None = None,
        scores: Iterable[Any] | None = None,
        decisions: Iterable[Any] | None = None,
        protected: Mapping[str, Iterable[Any]] | None = None,
    ) -> None:
        """Have rows sent soon: a DataFrame, a mapping, or mappings of columns to values.

        Returns at once and raises nothing, whatever is given. What else can be said, an entry a row:

        ids
            Your own, under which outcomes may come later.
        persons
            Whom a row is about.
        scores, decisions
            Of the deployed model: probability of the favorable outcome; whether it was decided.
        protected
            Values of protected attributes.
        """
        people = 1  # at least, if the rows themselves cannot be read
        try:
            beside = {"ids": ids, "persons": persons, "scores": scores, "decisions": decisions}
            beside |= {f"{_PROTECTED}{name}": each for name, each in (protected or {}).items()}
            made = _rows(rows)
            people = len(made)
            said = {name: _texts(name, values) for name, values in beside.items() if values is not None}
            for name, values in said.items():  # sent with others, entries would move to the next rows
                if len(values) != people:
                    raise ValueError(f"{len(values)} {name} for {people} rows")
            self._put(made, said)
        except Exception as error:  # noqa: BLE001  (the service that calls must not fail by its monitor)
            self.refused += people
            self._note(f"rows could not be accepted ({type(error).__name__}: {error})")

    def flush(self, seconds: float = 30.0) -> bool:
        """Wait until everything is sent, at most so long; return whether it is."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            done = self._changed.wait_for(lambda: not self._waiting, seconds)
            self._hurry = False
            return done

    def close(self, seconds: float = 30.0) -> bool:
        """Send what waits, at most so long, then end; return whether everything went."""
        done = self.flush(seconds)
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        return done

    def _put(self, rows: list[dict[str, Any]], said: dict[str, list[Any]]) -> None:
        for own in _parts((rows, said), _MAX_TOGETHER):
            people = len(own[0])
            with self._changed:
                if self._closed or self._waiting + people > self._most:
                    self.dropped += people
                    why = "the monitor was closed" if self._closed else "too many are waiting already"
                    self._note(f"{people} rows dropped: {why}")
                    continue
                self._queue.append(own)
                self._waiting += people
                if self._thread is None or not self._thread.is_alive():
                    self._thread = threading.Thread(target=self._run, name="evenhand-monitor", daemon=True)
                    self._thread.start()
                self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                if not self._queue:
                    return
                self._changed.wait_for(lambda: self._hurry or self._closed, self._seconds)
                parts = self._next()
            people = sum(len(rows) for rows, _ in parts)
            try:
                self._deliver(parts)
            except Exception as error:  # noqa: BLE001  (the thread lives on)
                self.refused += people
                self._note(f"a batch could not be sent ({type(error).__name__}: {error})")
            with self._changed:
                self._waiting -= people
                self._changed.notify_all()

    def _next(self) -> list[Part]:
        """Take what can be sent together: of which the same was said."""
        parts = [self._queue.popleft()]
        people = len(parts[0][0])
        while self._queue and people + len(self._queue[0][0]) <= _MAX_TOGETHER:
            if self._queue[0][1].keys() != parts[0][1].keys():
                break
            parts.append(self._queue.popleft())
            people += len(parts[-1][0])
        return parts

    def _deliver(self, parts: list[Part]) -> None:
        """Send parts as one batch until it is stored; one by one where one of them is wrong."""
        rows = [row for own, _ in parts for row in own]
        said = {name: [each for _, own in parts for each in own[name]] for name in parts[0][1]}
        body = json.dumps(_document(rows, said), default=_plain, allow_nan=False).encode()
        head = {**self._head, "Idempotency-Key": uuid.uuid4().hex}
        pause = 0.5
        while True:
            request = urllib.request.Request(self._url, body, head)  # noqa: S310  (checked)
            try:
                with urllib.request.urlopen(request, timeout=self._timeout) as answer:  # noqa: S310
                    told = json.loads(answer.read())
                self.sent += len(rows)
                for note in (*told.get("alarms", ()), *told.get("notes", ())):
                    _log.info("Monitor: %s", note)
                return
            except urllib.error.HTTPError as error:
                sentence = error.read(2000).decode("utf-8", "replace")
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    sentence = json.loads(sentence)["error"]
                if error.code in {413, 422} and len(rows) > 1 and (len(parts) > 1 or error.code == 413):
                    for part in parts if len(parts) > 1 else _parts(parts[0], (len(rows) + 1) // 2):
                        self._deliver([part])
                    return
                if error.code not in _AGAIN:
                    self.refused += len(rows)
                    people = "1 row" if len(rows) == 1 else f"{len(rows):,} rows"
                    self._note(f"{people} refused ({error.code}): {sentence}")
                    return
                self._note(f"the server answered {error.code}; trying again: {sentence}")
            except (OSError, ValueError, http.client.HTTPException) as error:
                self._note(f"the server cannot be reached; trying again: {error}")
            with self._changed:
                if self._closed:
                    self.dropped += len(rows)
                    return
                # whoever puts more rows in wakes this too: that makes no server well sooner
                self._changed.wait_for(lambda: self._closed, pause)
            pause = min(2 * pause, _MAX_PAUSE)

    def _note(self, problem: str) -> None:
        self.problem = problem
        _log.warning("Monitor: %s", problem)


_MADE: weakref.WeakSet[Monitor] = weakref.WeakSet()


def _after_fork() -> None:
    """Begin again in a forked process: no thread runs there, and locks may be held for ever."""
    for monitor in list(_MADE):
        monitor._begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _rows(given: Any) -> list[dict[str, Any]]:
    """Return rows as plain mappings, copied: the service may change its own afterwards."""
    if isinstance(given, Mapping) or (hasattr(given, "keys") and not hasattr(given, "columns")):
        return [_row(given)]  # a Series is one person, too
    for rows_of in ("to_dicts", "to_pylist"):  # polars, Arrow
        if hasattr(given, rows_of):
            return [_row(row) for row in getattr(given, rows_of)()]
    if hasattr(given, "to_dict"):  # pandas
        return [_row(row) for row in given.to_dict("records")]
    return [_row(row) for row in given]


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name): _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; missing ones as null."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    value = float(value) if isinstance(value, decimal.Decimal) else value
    # of NaN that is true, of NA neither true nor false
    if value is None or (value != value) is not False or value in (math.inf, -math.inf):
        return None
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def _texts(name: str, values: Iterable[Any]) -> list[Any]:
    made = [_plain(value) for value in values]
    if name in {"scores", "decisions"} or name.startswith(_PROTECTED):
        return made
    whole = [int(value) if isinstance(value, float) and value.is_integer() else value for value in made]
    return ["" if value is None else str(value) for value in whole]


def _parts(part: Part, most: int) -> list[Part]:
    """Cut rows into parts of at most so many."""
    rows, said = part
    cuts = [slice(start, start + most) for start in range(0, len(rows), most)]
    return [(rows[cut], {name: values[cut] for name, values in said.items()}) for cut in cuts]


def _document(rows: list[dict[str, Any]], said: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return what the server is sent."""
    found: dict[str, Any] = {"rows": rows}
    for name, values in said.items():
        if name.startswith(_PROTECTED):
            found.setdefault("protected", {})[name.removeprefix(_PROTECTED)] = values
        else:
            found[name] = values
    return found
