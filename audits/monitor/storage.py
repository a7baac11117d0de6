"""How a batch of measured people is stored: its place, its flags and the alarms it raises, all or nothing."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sqlalchemy as sa

from audits.data.values import plain_value
from audits.errors import InputError
from audits.monitor.alarms import (
    SEVERITIES,
    columns_of,
    detector_sentence,
    flags_sentence,
    is_part,
    queue,
    severity_of,
)
from audits.monitor.batches import Batch
from audits.monitor.buckets import extend_history
from audits.monitor.detectors import OF_GROUPS, Detector, Detectors, Outcomes
from audits.monitor.profile import Look
from audits.monitor.rates import Tally
from audits.monitor.tables import BATCHES, CASES, FLAGS, LASTS, MONITORS, PEOPLE, PREDICTIONS, STATES
from audits.stats.control import Chart

_TOGETHER = 500  # values in one question to a database
_DAY = 86_400.0
_QUIET = 4000  # people without a finding after which a condition is over that is not of groups
_BLOCK = 500  # people whose outcomes are waited for together before they are held against scores
_KNOWN = 0.95  # share of them that must be known, whatever was decided
_BLOCKS = 1000  # blocks that are waited for at most
_FLAGS = Detector("flags")
_CHANGING = ("last_person", "times", "latest", "ended", "severity")


@dataclass(frozen=True)
class Stored:
    """How a batch ended.

    Attributes
    ----------
    place : int
    replayed : bool
        Whether it had been stored before.
    alarms : tuple of str
        Those that it raised; a condition that lasts is raised once.
    counted : int
        People who count: everyone but those seen before within the window.
    """

    place: int
    replayed: bool
    alarms: tuple[str, ...] = ()
    counted: int = 0


@dataclass(frozen=True)
class Known:
    """What came of outcomes: people they were noted for, ids that nobody has, and those known otherwise."""

    noted: int
    before: int
    unknown: tuple[str, ...]
    otherwise: tuple[str, ...]
    alarms: tuple[str, ...] = ()


class State:
    """A monitor's counters within a writing transaction.

    Parameters
    ----------
    detectors : Detectors
        Of the monitor's bundle, at the beginning.

    Raises
    ------
    InputError
        If there is no such monitor.
    """

    def __init__(self, connection: sa.Connection, identity: str, detectors: Detectors) -> None:
        columns = ("name", "webhook", "chart", "settings", "batches", "people", "flagged", "chart_value")
        asked = (
            sa.select(*(MONITORS.c[name] for name in columns), STATES.c.tally, STATES.c.streams)
            .select_from(MONITORS.outerjoin(STATES, STATES.c.monitor == MONITORS.c.id))
            .where(MONITORS.c.id == identity)
        )
        row = connection.execute(asked).first()
        self._identity, self._connection = identity, connection
        if row is None:
            raise InputError("monitor", "must be one that exists", identity)
        settings = json.loads(row.settings)
        self._name, self._webhook = row.name, row.webhook
        self._chart = Chart(**json.loads(row.chart))
        self._budget = float(settings.get("people_between", self._chart.people_between))
        self._window = _DAY * float(settings.get("window_days", 30))
        self._keeps_rows = bool(settings.get("keep_rows", False))
        self._batches, self._people, self._flagged = row.batches, row.people, row.flagged
        self._value = row.chart_value
        self._detectors = detectors
        self._tally = Tally(json.loads(row.tally or "{}"))
        detectors.restore(bytes(row.streams or b""))
        self._rows: list[dict[str, Any]] = []
        lasting = connection.execute(sa.select(CASES).where(CASES.c.monitor == identity, LASTS))
        self._open = {each.about: dict(each._mapping) for each in lasting}
        self._changed: dict[int, dict[str, Any]] = {}  # alarms by their place
        self._found: set[str] = set()  # conditions, until `_end_quiet` looks

    def add(self, batches: Sequence[Batch], now: float) -> list[Stored | InputError]:
        """Store batches in order, or say why not; the counters are written last, by `write`."""
        return [self._before(batch) or self._add_new(batch, now) for batch in batches]

    def _add_new(self, batch: Batch, now: float) -> Stored:
        scored, sent = batch.scored, batch.sent
        counts = self._counting(sent.persons, len(scored.flagged), now) & _first(batch.ids)
        run = self._chart.follow(scored.flagged[counts], self._value)
        crossings = self._detectors.follow(batch.look, scored.score, scored.sensitivity, sent, counts)
        decisions = self._detectors.own_decisions(scored.score, sent.decisions)
        self._tally.add(sent.protected, decisions, counts)
        counted = np.flatnonzero(counts)
        row = self._row(batch, now, counts, run.values)
        self._connection.execute(sa.insert(BATCHES), [row])
        flagged = np.flatnonzero(scored.flagged)
        if len(flagged):
            self._connection.execute(sa.insert(FLAGS), self._flags(batch, flagged, now))
        remembered = self._rows_to_keep(batch, decisions, counts, now)
        if remembered:
            self._connection.execute(sa.insert(PREDICTIONS), remembered)
        found = [(int(counted[place]), _FLAGS) for place in run.alarms]
        raised = self._alarms([*found, *crossings], self._people, scored.flagged, now, batch.look)
        stored = Stored(self._batches, False, tuple(raised), len(counted))
        self._batches += 1
        self._people += len(scored.flagged)
        self._flagged += len(flagged)
        self._value = row["chart_value"]
        self._rows.append(row)
        self._end_quiet(now)
        return stored

    def _row(self, batch: Batch, now: float, counts: np.ndarray, walked: np.ndarray) -> dict[str, Any]:
        """Return what is kept of a batch, which took the chart through the values `walked`.

        The sensitivity of a person who does not count is not a number.
        """
        scored = batch.scored
        ends = int(walked[-1]) if len(walked) else self._value
        return {
            "monitor": batch.monitor,
            "place": self._batches,
            "received": now,
            "stated": batch.stated,
            "source": batch.source,
            "idempotency_key": batch.key,
            "sha256": batch.sha256,
            "first_person": self._people,
            "people": len(scored.flagged),
            "flagged": int(np.count_nonzero(scored.flagged)),
            "unseen": len(scored.unseen),
            "mean": float(scored.sensitivity.mean()),
            "chart_high": int(walked.max(initial=self._value)),
            "chart_value": 0 if ends >= self._chart.limit else ends,
            "sensitivities": np.where(counts, scored.sensitivity, np.nan).astype("<f8").tobytes(),
            "counted": int(counts.sum()),
        }

    def learn(self, outcomes: Mapping[str, bool], now: float) -> Known:
        """Note outcomes by the sender's ids."""
        found: dict[str, list[Any]] = {}
        ids = [identity for identity in outcomes if identity]  # rows kept without an id have an empty one
        for row in sorted(self._rows_of(PREDICTIONS.c.client_id, ids), key=lambda row: row.person):
            found.setdefault(row.client_id, []).append(row)
        rows, before, otherwise = [], 0, []
        for identity, good in outcomes.items():
            for row in found.get(identity, ()):
                if row.outcome is None:
                    rows.append((row, good))
                elif bool(row.outcome) == good:
                    before += 1
                else:
                    otherwise.append(identity)
        if rows:
            mine = sa.and_(
                PREDICTIONS.c.monitor == self._identity, PREDICTIONS.c.person == sa.bindparam("at")
            )
            noted = sa.update(PREDICTIONS).where(mine).values(outcome=sa.bindparam("good"))
            self._connection.execute(noted, [{"at": row.person, "good": int(good)} for row, good in rows])
        alarms = self._learn_outcomes([(row, good) for row, good in rows if row.counted], now)
        unknown = tuple(identity for identity in outcomes if identity not in found)
        return Known(len(rows), before, unknown, tuple(otherwise), tuple(alarms))

    def write(self) -> None:
        """Write the counters back."""
        counters = {"batches": self._batches, "people": self._people, "flagged": self._flagged}
        changed = sa.update(MONITORS).where(MONITORS.c.id == self._identity)
        self._connection.execute(changed.values(**counters, chart_value=self._value))
        state = {"tally": json.dumps(self._tally.plain), "streams": self._detectors.dump()}
        self._connection.execute(sa.delete(STATES).where(STATES.c.monitor == self._identity))
        self._connection.execute(sa.insert(STATES), [{"monitor": self._identity, **state}])
        if self._rows:
            extend_history(self._connection, self._identity, self._rows)
        for place, case in self._changed.items():
            mine = sa.and_(CASES.c.monitor == self._identity, CASES.c.place == place)
            now = {name: case[name] for name in _CHANGING}
            self._connection.execute(sa.update(CASES).where(mine).values(**now))

    def _rows_of(self, column: Any, values: Sequence[Any]) -> Iterator[Any]:
        """Yield the monitor's rows of a table in which `column` holds one of `values`, asked for in parts."""
        for start in range(0, len(values), _TOGETHER):
            part = column.in_(values[start : start + _TOGETHER])
            asked = sa.select(column.table).where(column.table.c.monitor == self._identity, part)
            yield from self._connection.execute(asked)

    def _before(self, batch: Batch) -> Stored | InputError | None:
        """Return how a batch ended that was sent before under its key; None for a new one."""
        if batch.key is None:
            return None
        mine = sa.and_(BATCHES.c.monitor == self._identity, BATCHES.c.idempotency_key == batch.key)
        asked = sa.select(BATCHES.c.place, BATCHES.c.sha256, BATCHES.c.counted).where(mine)
        row = self._connection.execute(asked).first()
        if row is None:
            return None
        if row.sha256 != batch.sha256:
            return InputError("Idempotency-Key", "was used for another content", batch.key)
        return Stored(row.place, True, (), row.counted)

    def _counting(self, persons: Sequence[str], n: int, now: float) -> np.ndarray:
        """Return who counts, (n,): a person who was counted within the window does not count again."""
        counts = np.ones(n, dtype=bool)
        if not persons:
            return counts
        numbers = {person: _number_of(self._identity, person) for person in dict.fromkeys(persons) if person}
        known = self._rows_of(PEOPLE.c.person, sorted(numbers.values()))
        seen = {row.person: row.received for row in known}
        last = dict(seen)
        for place, person in enumerate(persons):
            if person and now - last.get(numbers[person], -math.inf) < self._window:
                counts[place] = False
            elif person:
                last[numbers[person]] = now
        own = PEOPLE.c.monitor == self._identity
        for each in [each for each in seen if last[each] != seen[each]]:
            again = sa.update(PEOPLE).where(own, PEOPLE.c.person == each)
            self._connection.execute(again.values(received=now))
        new = [{"monitor": self._identity, "person": each, "received": now} for each in last.keys() - seen]
        if new:
            self._connection.execute(sa.insert(PEOPLE), new)
        return counts

    def _rows_to_keep(
        self, batch: Batch, decisions: np.ndarray, counts: np.ndarray, now: float
    ) -> list[dict[str, Any]]:
        """Return what outcomes, which come later by id, are compared with, and rows that are to be kept."""
        sent, own = batch.sent, batch.scored.score
        features = self._features(batch)
        rows = []
        for place in range(len(own)):
            identity = batch.ids[place] if batch.ids else ""
            if not (identity or features):
                continue
            score = sent.scores[place] if sent.scores else None
            groups = {name: values[place] for name, values in sent.protected.items() if values[place]}
            rows.append(
                {
                    "monitor": batch.monitor,
                    "person": self._people + place,
                    "client_id": identity,
                    "received": now,
                    "score": float(own[place] if score is None else score),
                    "decision": int(decisions[place]),
                    "counted": int(counts[place]),
                    "protected": json.dumps(groups, ensure_ascii=False) if groups else "",
                    "outcome": None,
                    "features": features[place] if features else "",
                }
            )
        return rows

    def _features(self, batch: Batch) -> list[str]:
        """Return each row as JSON where rows are kept, else nothing."""
        if not self._keeps_rows or batch.columns is None:
            return []
        columns = [map(plain_value, values) for values in batch.columns.values()]
        return [
            json.dumps(dict(zip(batch.columns, row, strict=True)), ensure_ascii=False)
            for row in zip(*columns, strict=True)
        ]

    def _learn_outcomes(self, rows: Sequence[tuple[Any, bool]], now: float) -> list[str]:
        if not rows:
            return []
        known = _outcomes(rows)
        if not self._detectors.scored:
            known.scores[:] = np.nan
        self._tally.learn(known)
        nobody = np.zeros(0, dtype=bool)
        found = self._detectors.learn(_outcomes(self._settled(rows)))
        raised = self._alarms([(self._people - 1, detector) for _, detector in found], 0, nobody, now)
        self._end_quiet(now)
        return raised

    def _settled(self, rows: Sequence[tuple[Any, bool]]) -> list[tuple[Any, bool]]:
        """Return people of blocks whose outcomes are nearly all known now that these `rows` are, each once.

        Bad outcomes may come sooner than good ones, and those of people who were turned down never: among
        those known, good ones seem rarer, and true positives more frequent, than they are.
        """
        latest = self._people // _BLOCK
        settled = self._detectors.settled = [
            each for each in self._detectors.settled if each >= latest - _BLOCKS
        ]
        touched = {row.person // _BLOCK - back for row, _ in rows for back in (0, 1)}
        names = ("person", "outcome", "score", "decision", "protected", "counted")
        asked = sa.select(*(PREDICTIONS.c[name] for name in names)).order_by(PREDICTIONS.c.person)
        asked = asked.where(PREDICTIONS.c.monitor == self._identity)
        found: list[tuple[Any, bool]] = []
        for block in sorted((touched & {*range(max(latest - _BLOCKS, 0), latest)}).difference(settled)):
            mine = PREDICTIONS.c.person.between(block * _BLOCK, (block + 1) * _BLOCK - 1)
            there = self._connection.execute(asked.where(mine, PREDICTIONS.c.client_id != "")).all()
            if len(there) < _KNOWN * _BLOCK:  # of those without an id, perhaps all who were declined
                continue
            there = [row for row in there if row.counted]
            known = [(row, bool(row.outcome)) for row in there if row.outcome is not None]
            sizes = Counter(row.decision for row in there)
            given = Counter(row.decision for row, _ in known)
            if all(given[decision] >= _KNOWN * size for decision, size in sizes.items()):
                settled.append(block)
                found += known
        return found

    def _alarms(
        self,
        found: Sequence[tuple[int, Detector]],
        first: int,
        flagged: np.ndarray,
        now: float,
        look: Look | None = None,
    ) -> list[str]:
        """Raise alarms for conditions that are new and part of no incident; return their sentences."""
        raised = []
        for place, detector in sorted(found, key=lambda each: each[0]):
            person, about, kind = first + place, detector.key, detector.kind
            columns = columns_of(detector, look)
            self._found.add(about)
            case = self._open.get(about)
            quiet = case is not None and person - case["last_person"] > self._quiet(about)
            if case is not None and quiet and kind not in OF_GROUPS:
                self._close(about, now)
                case = None
            if case is not None:
                case.update(last_person=person, latest=now, times=case["times"] + 1)
            else:
                parts = (each for each in self._open.values() if is_part(kind, columns, each, person))
                case = next(parts, None)
            if case is not None:
                case["severity"] = max(case["severity"], severity_of(kind), key=SEVERITIES.index)
                self._changed[case["place"]] = case
                continue
            if detector is _FLAGS:
                seen = self._flagged + int(np.count_nonzero(flagged[: place + 1]))
                sentence = flags_sentence(self._chart, person + 1, seen, self._budget)
            else:
                sentence = detector_sentence(detector, person + 1, self._budget, look)
            raised.append(sentence)
            self._open[about] = self._raise(about, kind, sentence, person, now)
        return raised

    def _raise(self, about: str, kind: str, sentence: str, person: int, now: float) -> dict[str, Any]:
        place = sa.select(sa.func.count()).select_from(CASES).where(CASES.c.monitor == self._identity)
        case = {
            "monitor": self._identity,
            "place": self._connection.execute(place).scalar_one(),
            "kind": kind,
            "about": about,
            "severity": severity_of(kind),
            "sentence": sentence,
            "person": person,
            "last_person": person,
            "batch": self._batches,
            "times": 1,
            "raised": now,
            "latest": now,
            **dict.fromkeys(("ended", "acknowledged", "snoozed", "resolved")),
            **dict.fromkeys(("owner", "note", "told"), ""),
        }
        self._connection.execute(sa.insert(CASES), [case])
        queue(self._connection, self._webhook, self._identity, self._name, case, now)
        return case

    def _quiet(self, about: str) -> float:
        return max(200.0, 3 * self._chart.people_to_detect) if about == _FLAGS.key else _QUIET

    def _end_quiet(self, now: float) -> None:
        """Close conditions that have not been found for long."""
        for about, case in list(self._open.items()):
            lasts = self._detectors.lasts(about, found=about in self._found)
            if lasts is None:
                lasts = self._people - 1 - case["last_person"] <= self._quiet(about)
            if not lasts:
                self._close(about, now)
        self._found.clear()

    def _close(self, about: str, now: float) -> None:
        case = self._open.pop(about) | {"ended": now}
        self._changed[case["place"]] = case

    def _flags(self, batch: Batch, places: np.ndarray, now: float) -> list[dict[str, Any]]:
        scored = batch.scored
        parts = replace(scored, contributions=scored.contributions[places]).tops(most=len(scored.columns))
        values, scores = scored.sensitivity[places].tolist(), scored.score[places].tolist()
        return [
            {
                "monitor": batch.monitor,
                "person": self._people + place,
                "batch": self._batches,
                "received": now,
                "client_id": batch.ids[place] if batch.ids else "",
                "sensitivity": value,
                "score": score,
                "contributions": json.dumps(dict(own), ensure_ascii=False),
            }
            for place, value, score, own in zip(places.tolist(), values, scores, parts, strict=True)
        ]


def _outcomes(rows: Sequence[tuple[Any, bool]]) -> Outcomes:
    return Outcomes(
        np.array([good for _, good in rows], dtype=bool),
        np.array([row.score for row, _ in rows], dtype=float),
        np.array([row.decision for row, _ in rows], dtype=int),
        [json.loads(row.protected or "{}") for row, _ in rows],
    )


def _first(ids: Sequence[str]) -> Any:
    """Return whether each id comes for the first time (n,): one sent twice in a body counts once."""
    if not ids:
        return True
    places = dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))
    return np.array([not own or places[own] == place for place, own in enumerate(ids)])


def _number_of(identity: str, person: str) -> int:
    """Return a number for a person from which nobody finds the person's id again, within one monitor."""
    digest = hashlib.blake2b(person.encode(), key=identity.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
