"""What a monitor received in a window as a table, and the spec that audits it like any other.

The people are those whom the deployed model decided: the spec names their decisions as the model's, so that
audits look at what was done to people, not at what the model would do. Of a row the decision, the score and
protected values are kept beside an id; all else of it only where the monitor keeps rows (``keep_rows``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from audits.checks import choices
from audits.data.values import text_of
from audits.errors import InputError
from audits.monitor.ingestion import utc_moment
from audits.monitor.monitors import Monitors, StoredMonitor
from audits.monitor.tables import BATCHES, PREDICTIONS
from audits.records import Audit, resolve
from audits.runs.registry import AUDITS
from audits.stats.text import count
from audits.text import join_names

DECISION, OUTCOME, SCORE, ID = "decision", "outcome", "score", "id"
GOOD, BAD = "favorable", "unfavorable"
MAX = 200_000
"""People in a window at most."""

_MIN = 2  # in a group that is compared
_NUMBERS = frozenset({"integer", "continuous", "boolean"})
_KINDS = frozenset({"categorical", "integer", "continuous", "boolean", "datetime"})


@dataclass(frozen=True, eq=False)
class Window:
    """People received in a window.

    Attributes
    ----------
    frame : DataFrame
        A row each, in the order in which they came.
    received : int
        How many came in the window, as far as is still known.
    left_out : dict of str to int
        Of these, by reason.
    features : tuple of str
        Columns of the rows themselves; empty where they are not kept.
    groups : dict of str to dict of str to int
        People by protected attribute and group.
    sentence : str
        Which window, how many, how many were left out and why.
    """

    frame: pd.DataFrame
    received: int
    left_out: dict[str, int]
    features: tuple[str, ...]
    groups: dict[str, dict[str, int]]
    sentence: str

    @property
    def facts(self) -> dict[str, Any]:
        """What is told of it beside an audit."""
        same = ("received", "left_out", "groups", "sentence")
        return {"rows": len(self.frame), **{name: getattr(self, name) for name in same}}


def take_window(
    monitors: Monitors,
    identity: str,
    *,
    last: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    outcomes: bool = False,
    rows: bool = False,
) -> Window:
    """Return the people received in a window: the `last` so many, or those from `since` until `until`.

    Parameters
    ----------
    outcomes : bool
        Take outcomes, too; of people whose outcome is not known they are missing, and the run says what that
        forbids: if outcomes are known only of those who were approved, all of those are.
    rows : bool
        Take only people whose rows were kept, with their columns.

    Raises
    ------
    InputError
        If the window is none, or nobody in it can be audited: says why.
    """
    monitor = monitors.get(identity)
    if (last is None) == (since is None and until is None):
        raise InputError("window", "must be either the last N people or a range of dates")
    if last is not None and not 1 <= last <= MAX:
        raise InputError("last", f"must lie between 1 and {MAX:,}", last)
    low, high = _seconds(since, -math.inf), _seconds(until, math.inf)
    if low >= high:
        raise InputError("until", "must come after since", text_of(until))
    first = 0 if last is None else max(0, monitor.people - last)
    within = _within(PREDICTIONS, monitor.id, PREDICTIONS.c.person >= first, low, high)
    whole = _within(BATCHES, monitor.id, BATCHES.c.first_person + BATCHES.c.people > first, low, high)
    with monitors.database.reading() as connection:
        batches = connection.execute(
            sa.select(BATCHES.c.first_person, BATCHES.c.people, BATCHES.c.received).where(whole)
        ).all()
        asked = sa.select(PREDICTIONS).where(within).order_by(PREDICTIONS.c.person).limit(MAX + 1)
        kept = pd.DataFrame(connection.execute(asked).all(), columns=[each.name for each in PREDICTIONS.c])
        oldest = connection.execute(
            sa.select(sa.func.min(BATCHES.c.first_person)).where(BATCHES.c.monitor == monitor.id)
        ).scalar()
    removed = monitor.people if oldest is None else int(oldest)  # nobody before these is kept any more
    there = sum(row.first_person + row.people - max(row.first_person, first) for row in batches)
    received = there if last is None else monitor.people - first
    if len(kept) > MAX:
        raise InputError("window", f"must hold at most {MAX:,} people", advice="choose a shorter one")
    beyond = (
        monitor.people - monitor.keep_people
    )  # of people before, a batch may be kept, but nothing of them
    parts = [(max(row.first_person, first), min(row.first_person + row.people, beyond)) for row in batches]
    lost = sum(max(0, end - start) for start, end in parts) - int((kept["person"] < beyond).sum())
    left_out = {
        "removed by retention": max(0, received - there) + lost,
        "sent without an id, so nothing of them is kept": there - len(kept) - lost,
    }
    used, reasons = _select_rows(kept, rows=rows)
    left_out = {reason: size for reason, size in (left_out | reasons).items() if size}
    which = _window_phrase(None if last is None else received, low, high, [row.received for row in batches])
    early = last is None and removed and low < min((row.received for row in batches), default=math.inf)
    sentence = _sentence(monitor, which, len(used), left_out, removed if early else 0)
    if used.empty:
        advice = "send `ids`, or have the monitor keep rows (`keep_rows`)" if there else "choose another one"
        raise InputError("window", f"holds nobody who can be audited. {sentence.rstrip('.')}", advice=advice)
    if outcomes and used["outcome"].isna().all():
        raise InputError("window", "holds nobody whose outcome is known", advice="leave `outcomes` out")
    frame, features, groups = _table(monitor, used, rows=rows, outcomes=outcomes)
    return Window(frame, received, left_out, features, groups, sentence)


def _within(table: Any, identity: str, where: Any, low: float, high: float) -> Any:
    """Return what selects the rows of a monitor in a time."""
    return sa.and_(table.c.monitor == identity, where, table.c.received >= low, table.c.received < high)


def _seconds(moment: datetime | None, default: float) -> float:
    return default if moment is None else moment.timestamp()


def _select_rows(kept: pd.DataFrame, *, rows: bool) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return those who can be audited, and how many cannot by the first reason that holds."""
    reasons = {
        "of people already counted": kept["counted"] == 0,
        "without a decision": kept["decision"] < 0,
        "whose rows were not kept": (kept["features"] == "") & rows,
    }
    left_out = {}
    for reason, holds in reasons.items():
        left_out[reason] = int(holds[kept.index].sum())
        kept = kept[~holds[kept.index]]
    return kept, left_out


def _table(
    monitor: StoredMonitor, used: pd.DataFrame, *, rows: bool, outcomes: bool
) -> tuple[pd.DataFrame, tuple[str, ...], dict[str, dict[str, int]]]:
    """Return the table, which of its columns are of the rows sent, and people by attribute and group."""
    found: dict[str, Any] = {}
    entries = {str(each["column"]): each for each in monitor.bundle.encoding}
    features = tuple(monitor.bundle.reads) if rows else ()
    sent = [json.loads(text) for text in used["features"]] if rows else []
    for name in features:
        values = [own.get(name) for own in sent]
        if entries[name]["kind"] in _NUMBERS and not entries[name]["levels"]:
            found[name] = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
        else:
            found[name] = [None if value is None else text_of(value) for value in values]
    groups = [json.loads(text or "{}") for text in used["protected"]]
    watched = [name for name in monitor.bundle.about["protected"] if name in features]
    attributes = dict.fromkeys([*(name for each in groups for name in each), *watched])
    for name in attributes:
        own = found.get(name, [None] * len(used))
        told = [each.get(name) for each in groups]
        values = [mine if each is None else each for each, mine in zip(told, own, strict=True)]
        found[name] = monitor.bundle.group_names(name, values)
    beside: dict[str, Any] = {
        DECISION: np.where(used["decision"] == 1, GOOD, BAD),
        SCORE: used["score"].to_numpy(),
        ID: used["client_id"].to_numpy(),
    }
    if outcomes:
        beside[OUTCOME] = used["outcome"].map({1: GOOD, 0: BAD}).to_numpy(dtype=object)
    taken = set(found)
    frame = pd.DataFrame(found | {_free(name, taken): values for name, values in beside.items()})
    return frame, features, {name: frame[name].value_counts().to_dict() for name in attributes}


def _free(name: str, taken: set[str]) -> str:
    """Return a name of ours that no column of the sender's has."""
    while name in taken:
        name = f"monitor {name}"
    return name


def audits_of_windows() -> list[Audit]:
    """Return the audits made of a window where none is named: first those that need no rows."""
    return sorted(AUDITS.having("windows"), key=lambda audit: not audit.groups_alone)


def needing_rows() -> list[Audit]:
    """Return those of them that need the rows themselves."""
    return [audit for audit in audits_of_windows() if not audit.groups_alone]


def nouns(audits: Sequence[Audit]) -> str:
    """Return what a sentence calls what these audits look at: ``"groups and rule sets"``."""
    return join_names([audit.noun for audit in audits])


def window_spec(
    monitor: StoredMonitor, window: Window, path: str, audits: Sequence[Any] = (), *, outcomes: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Return the spec that audits a window kept in the file `path`, and what could not be asked, in words.

    Parameters
    ----------
    audits : sequence of str or dict
        As in a spec; by default those of `audits_of_windows`, as far as what was received allows. One that
        is named without the options that its record gives it for a window gets these.

    Raises
    ------
    InputError
        If no protected value was sent, or an audit that was named cannot be made of this window.
    """
    named = window.groups
    if not named:
        raise InputError(
            "window",
            "holds no protected values, so groups cannot be told apart",
            advice="send `protected` beside the rows",
        )
    compared = {
        name: groups for name, groups in named.items() if sum(n >= _MIN for n in groups.values()) >= 2
    }
    wanted, notes = [], list[str]()
    for each in audits or [audit.name for audit in audits_of_windows()]:
        name, options = _request(each)
        try:
            wanted.append({name: _options(name, options, window, compared)})
        except InputError as error:
            if audits:
                raise
            notes.append(f"{name} was left out: {error}")
    if not wanted:
        raise InputError("window", "allows no audit", advice=" ".join(notes))
    taken = {*window.features, *named}
    data: dict[str, Any] = {
        "path": path,
        "protected": list(named),
        "features": list(window.features),
        "favorable": GOOD,
        "kinds": _kinds(monitor, window),
        "mended": [window.sentence],
    }
    if outcomes:
        data["label"] = _free(OUTCOME, taken)
    model = {"predictions": {"label": _free(DECISION, taken)}}
    return {"data": data, "model": model, "seed": 0, "audits": wanted}, notes


def _request(each: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(each, str):
        return each, {}
    if isinstance(each, Mapping) and len(each) == 1:
        [(name, options)] = each.items()
        if isinstance(options, Mapping | None):
            return str(name), dict(options or {})
    raise InputError("audits", "must be names of audits, or objects such as {'flipset': {…}}", each)


def needs_rows(audits: Sequence[Any]) -> bool:
    """Tell whether one of these audits looks at more of people than groups and decisions."""
    return not all(_groups_alone(_request(each)[0]) for each in audits)


def _groups_alone(name: str) -> bool:
    return name in AUDITS and AUDITS[name].groups_alone


def _options(
    name: str, options: dict[str, Any], window: Window, compared: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    """Return the options of an audit, or say why it cannot be made."""
    if not compared:
        only = ", ".join(f"{each}: {choices(list(groups))}" for each, groups in window.groups.items())
        raise InputError("window", f"must hold at least two groups of {_MIN} people to compare", only)
    if not window.features and not _groups_alone(name):
        raise InputError(
            name,
            "needs the rows themselves, which this monitor does not keep",
            advice="have it keep rows (`keep_rows`), and audit what arrives from then on",
        )
    windows = AUDITS[name].windows if name in AUDITS else None
    usual: dict[str, Any] = {} if windows is None else resolve(windows)(compared)
    return options if usual.keys() & options.keys() else {**options, **usual}


def _kinds(monitor: StoredMonitor, window: Window) -> dict[str, str]:
    kinds = {
        str(each["column"]): str(each["kind"])
        for each in monitor.bundle.encoding
        if each["column"] in window.features and each["kind"] in _KINDS
    }
    return kinds | dict.fromkeys(window.groups, "categorical")


def _sentence(monitor: StoredMonitor, asked: str, used: int, left_out: Mapping[str, int], early: int) -> str:
    said = f"The table is a window of the monitor “{monitor.name}”: {asked}. "
    said += f"{count(used)} people are audited, with the deployed model's decisions"
    if left_out:
        said += f"; left out: {', '.join(f'{count(size)} {reason}' for reason, size in left_out.items())}"
    if early:
        said += f"; retention has removed the first {count(early)} people received"
    return f"{said}."


def _window_phrase(last: int | None, low: float, high: float, received: Sequence[float]) -> str:
    if last is not None:
        spread = f" ({_day(min(received))} to {_day(max(received))})" if received else ""
        return f"the last {count(last)} people received{spread}"
    begin = "" if low == -math.inf else f" from {_day(low)}"
    return f"people received{begin}{'' if high == math.inf else f' until {_day(high)}'}"


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def file_name(monitor: StoredMonitor) -> str:
    """Return what the file of a window is called: whose it is can be told from it."""
    words = re.sub(r"[^\w-]+", "-", monitor.name)[:40].strip("-")
    return f"window-{monitor.id}-{words or 'monitor'}.parquet"


def is_window_of(identity: str, spec: Mapping[str, Any]) -> bool:
    """Tell whether a spec audits a window of a monitor."""
    path = spec.get("data", {}).get("path")
    return isinstance(path, str) and path.rpartition("/")[2].startswith(f"window-{identity}-")


def moment(where: str, text: Any) -> datetime | None:
    """Read a date or time, of UTC unless it says otherwise; None stays.

    Raises
    ------
    InputError
        If it is none.
    """
    if text is None:
        return None
    try:
        return utc_moment(text if isinstance(text, str) else "")
    except ValueError:
        raise InputError(where, "must be a date such as 2026-05-31, or a time", text) from None
