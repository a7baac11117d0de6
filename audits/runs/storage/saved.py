"""Saved audits: every run asked for, how it ended, and what it found, for as long as its owner keeps it.

What a run wrote lies in ``EVENHAND_HOME/artefacts`` under the SHA-256 of its content, so that equal tables of
many runs are kept once; the database says which run has which file. A run whose process is gone before it
ended is shown as interrupted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import shutil
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from audits.errors import InputError, RunFailed, os_failure
from audits.runs.executors.process_lock import goes_on, this_process
from audits.runs.executors.scratch import scratch
from audits.runs.storage.artefacts import Artefact, Artefacts
from audits.runs.storage.database import Database, database, is_unreachable
from audits.runs.storage.entry import (
    MAX_NOTE,
    STATUSES,
    SavedRun,
    audits_of,
    default_title,
    first,
    storable,
    title_of,
)
from audits.runs.storage.spool import Spool
from audits.runs.storage.store import RunStore, home

if TYPE_CHECKING:
    from audits.runs.executors.job import Run
    from audits.runs.result import RunResult

__all__ = ["RESTARTED", "STATUSES", "SavedRun", "SavedRuns", "keep_run"]

RESTARTED = "It was restarted automatically after the server restarted."
"""In the note of a run that a server handed back when it stopped."""

_HANDED_BACK = "The server restarted; the run restarts automatically."

_FIELDS = (
    "id", "run_key", "title", "note", "status", "owner", "spec", "base_dir", "created", "ended",
    "process", "verdict", "finding", "error", "badge",
)  # fmt: skip
_WAITS = (1.0, 5.0, 15.0, 60.0)  # seconds between tries to note the end of a run
_TRIES = 1440  # a day
_RUNS = sa.table("saved_runs", *map(sa.column, _FIELDS))
_FILES = sa.table("saved_files", *map(sa.column, ("run", "name", "digest", "size")))


def keep_run(
    run: Run, spec: Mapping[str, Any], base_dir: Path, *, title: str, owner: str, base: Path | None = None
) -> None:
    """Keep a server's run among the saved audits, and how it ends, as soon as the database can be used.

    Raises
    ------
    InputError
        If the home folder cannot be used.
    RunFailed
        If the run can be noted nowhere.
    """
    saved = SavedRuns(base)
    saved.follow(saved.begin(spec, base_dir, title=title, owner=owner, key=run.key), run)


def _until(done: Callable[[], bool]) -> None:
    """Try again and again, for a day, in a thread."""

    def again() -> None:
        for wait in (*_WAITS, *[_WAITS[-1]] * _TRIES):
            time.sleep(wait)
            if done():
                return

    threading.Thread(target=again, name="evenhand-note", daemon=True).start()


class _LaidOut:
    """A folder for the files of a saved audit, which goes with the last result that was read from it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=scratch()))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


class SavedRuns:
    """The saved audits of a home folder; several processes may use them at once.

    Parameters
    ----------
    base : Path, optional
        Home folder; by default ``EVENHAND_HOME``.

    Raises
    ------
    InputError
        If the folder cannot be used; from every method, if the database cannot, or a newer Evenhand made it.
    """

    def __init__(self, base: Path | None = None) -> None:
        self._base = base or home()
        self._artefacts = Artefacts(self._base)
        self._spool = Spool(self._base)

    @cached_property
    def _database(self) -> Database:
        return database(self._base)

    def begin(
        self, spec: Mapping[str, Any], base_dir: Path, *, title: str = "", owner: str = "", key: str = ""
    ) -> str:
        """Note a run that starts now in this process; return its id.

        Where the database is away, a run with a key waits in the home folder until it is back.
        """
        row = dict.fromkeys(_FIELDS, "") | {
            "id": uuid.uuid4().hex,
            "run_key": key,
            "title": title_of(title or default_title(spec)),
            "status": "running",
            "owner": owner,
            "spec": json.dumps(spec),
            "base_dir": storable(str(base_dir)),
            "created": time.time(),
            "ended": None,
            "process": this_process(self._base),
        }
        try:
            with self._database.writing() as connection:
                connection.execute(sa.insert(_RUNS), row)
        except (InputError, RunFailed) as error:
            if not key or not is_unreachable(error):
                raise
            self._spool.add(row)
        return str(row["id"])

    def hand_back(self) -> None:
        """Note that this process ends before its runs do: the next server starts each again, once."""
        mine = (_RUNS.c.status == "running") & (_RUNS.c.process == this_process(self._base))
        change = {"status": "interrupted", "ended": time.time()}
        once = ~_RUNS.c.note.contains(RESTARTED)
        with self._database.writing() as connection:
            connection.execute(sa.update(_RUNS).where(mine & once).values({**change, "error": _HANDED_BACK}))
            connection.execute(sa.update(_RUNS).where(mine).values(change))

    def handed_back(self) -> list[SavedRun]:
        """Return the runs that a server handed back as it ended, or was killed at; none has started again."""
        return [run for run in self.list(status="interrupted") if run.error == _HANDED_BACK]

    def begin_again(self, identity: str, owner: str | None = None, *, restarted: bool = False) -> SavedRun:
        """Note that a run that did not end well starts again, now in this process; by itself if `restarted`.

        Raises
        ------
        InputError
            If it is running, or done.
        """
        found = self.get(identity, owner)
        now = {"process": this_process(self._base), "created": time.time(), "ended": None}
        note = found.note.replace(RESTARTED, "").strip()
        change = {"status": "running", "error": "", "note": f"{note} {RESTARTED * restarted}".strip(), **now}
        wanted = (_RUNS.c.id == found.id) & _RUNS.c.status.in_(("failed", "cancelled", "interrupted"))
        if not self._database.change(sa.update(_RUNS).where(wanted).values(change)):
            rule = f"is {found.status}; only a failed, cancelled or interrupted one starts again"
            raise InputError("the saved audit", rule, found.id)
        return self.get(found.id)

    def finish(self, identity: str, result: RunResult) -> bool:
        """Keep what a run found; False if it was deleted meanwhile.

        Raises
        ------
        RunFailed
            If there is no room on the disk; the run is then noted as failed, and nothing of it stays.
        """
        verdict, badge, finding = first(result)
        change = {
            "status": "done",
            "ended": time.time(),
            "verdict": verdict,
            "badge": storable(badge),
            "finding": storable(finding),
            "error": "",
        }
        try:
            with self._artefacts.aside() as aside:
                result.save(aside)
                files = self._artefacts.look_at(aside)
                with self._database.writing() as connection:  # no deletion can fall between files and rows
                    wanted = sa.update(_RUNS).where(_RUNS.c.id == identity).values(change)
                    if connection.execute(wanted).rowcount == 0:
                        return False
                    connection.execute(sa.delete(_FILES).where(_FILES.c.run == identity))
                    rows = [{"run": identity, **dataclasses.asdict(file)} for file in files]
                    connection.execute(sa.insert(_FILES), rows)
                    self._artefacts.take_in(files, aside)
        except (OSError, RunFailed) as error:
            why = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
            sentence = f"The result could not be saved ({why}); make room and start the run again."
            with contextlib.suppress(RunFailed):  # the disk may be too full even for this
                self.end(identity, "failed", sentence)
            raise RunFailed(sentence) from error
        return True

    def end(self, identity: str, status: str, error: str = "") -> None:
        """Note that a run failed or was cancelled."""
        change = {"status": status, "ended": time.time(), "error": storable(error)}
        wanted = (_RUNS.c.id == identity) & (_RUNS.c.status != "interrupted")
        self._database.change(sa.update(_RUNS).where(wanted).values(change))

    def reconcile(self) -> int:
        """Take in the runs that were noted while the database was away; return how many.

        Raises
        ------
        RunFailed
            If it is away still.
        """
        rows = self._spool.all()
        if not rows:
            return 0
        with self._database.writing() as connection:
            for row in rows:
                known = sa.select(_RUNS.c.id).where(_RUNS.c.id == row["id"])
                if connection.execute(known).first() is None:
                    connection.execute(sa.insert(_RUNS), {name: row.get(name, "") for name in _FIELDS})
        for row in rows:
            self._spool.remove(row["id"])
        return len(rows)

    def follow(self, identity: str, run: Run) -> None:
        """Note how `run` ends as soon as it does, from whichever thread that is."""
        run.on_end(lambda: self.note_end(identity, run))

    def list(
        self,
        *,
        owner: str | None = None,
        status: str | None = None,
        verdict: str | None = None,
        audit: str | None = None,
        text: str = "",
    ) -> list[SavedRun]:
        """Return saved audits, latest first.

        Parameters
        ----------
        owner, status, verdict, audit : str, optional
            Only those of this owner, with this status or overall verdict, or that hold this audit.
        text : str
            Only those whose title, note or finding contains it, in any case.
        """
        self._sweep()
        wanted = sa.select(*_RUNS.c).order_by(_RUNS.c.created.desc(), _RUNS.c.id)
        for column, value in ((_RUNS.c.owner, owner), (_RUNS.c.status, status), (_RUNS.c.verdict, verdict)):
            if value is not None:
                wanted = wanted.where(column == value)
        found = [SavedRun.of(row) for row in self._database.rows(wanted)]
        sought = text.casefold()
        return [
            run
            for run in found
            if (audit is None or audit in audits_of(run.spec))
            and sought in "\n".join((run.title, run.note, run.finding)).casefold()
        ]

    def get(self, identity: str, owner: str | None = None) -> SavedRun:
        """Return the saved audit whose id is, or alone begins with, `identity`.

        Raises
        ------
        InputError
            If there is none, or several.
        """
        self._sweep()
        wanted = sa.select(*_RUNS.c).where(sa.func.substr(_RUNS.c.id, 1, len(identity)) == identity).limit(2)
        if owner is not None:
            wanted = wanted.where(_RUNS.c.owner == owner)
        found = self._database.rows(wanted) if identity else []
        if len(found) != 1:
            rule = "names several saved audits" if found else "must be the id of a saved audit"
            raise InputError("ID", rule, identity, "give more of it" if found else "it may have been deleted")
        return SavedRun.of(found[0])

    def load(self, identity: str, owner: str | None = None) -> RunResult:
        """Return what a saved audit found.

        Raises
        ------
        InputError
            If there is no such audit, or it is not done.
        RunFailed
            If its files are damaged, or were deleted while they were read.
        """
        from audits.runs.result import RunResult

        laid_out = _LaidOut()
        self.export(identity, laid_out.folder, owner)
        return dataclasses.replace(RunResult.load(laid_out.folder), laid_out=laid_out)

    def export(self, identity: str, folder: Path, owner: str | None = None) -> None:
        """Write the files of a saved audit into `folder`, each compared with its digest."""
        run = self.get(identity, owner)
        if run.status != "done":
            why = f": {run.error}".rstrip(".") if run.error else ""
            raise InputError("the saved audit", f"has no result, it is {run.status}{why}", run.id)
        for row in self._database.rows(sa.select(*_FILES.c).where(_FILES.c.run == run.id)):
            content = self._artefacts.read(Artefact(row.name, row.digest, row.size), run.title)
            with os_failure(f"The files of {run.title!r} could not be restored"):
                (folder / row.name).parent.mkdir(parents=True, exist_ok=True)
                (folder / row.name).write_bytes(content)

    def rename(self, identity: str, title: str, owner: str | None = None) -> None:
        """Give a saved audit another title."""
        if not title.strip():
            raise InputError("title", "must not be empty", title)
        self._set(identity, owner, title=title_of(title))

    def annotate(self, identity: str, note: str, owner: str | None = None) -> None:
        """Keep a note with a saved audit; an empty one removes it.

        Raises
        ------
        InputError
            If it is longer than 10,000 characters.
        """
        if len(note) > MAX_NOTE:
            raise InputError("note", f"must have at most {MAX_NOTE:,} characters", len(note))
        self._set(identity, owner, note=storable(note))

    def delete(self, identity: str, owner: str | None = None) -> None:
        """Forget a saved audit, and its files where no other audit has the same."""
        found = self.get(identity, owner)
        of_run = _FILES.c.run == found.id
        with self._database.writing() as connection:
            digests = set(connection.scalars(sa.select(_FILES.c.digest).where(of_run)))
            connection.execute(sa.delete(_FILES).where(of_run))
            connection.execute(sa.delete(_RUNS).where(_RUNS.c.id == found.id))
        with self._database.writing() as connection:  # a crash between the two leaves files, never gaps
            others = sa.select(_FILES.c.digest).where(_FILES.c.digest.in_(digests))
            for digest in digests.difference(connection.scalars(others)):
                self._artefacts.forget(digest)
        self._database.scrub()

    def note_end(self, identity: str, run: Run) -> None:
        """Note how a run ended; where the database cannot be used now, try again until it can."""
        if not self._note_end(identity, run):
            _until(lambda: self._note_end(identity, run))

    def _note_end(self, identity: str, run: Run) -> bool:
        """Note how a run ended; False if the database could not be reached."""
        try:
            self.reconcile()
            if run.status == "done":
                self.finish(identity, run.result())
            elif run.status == "cancelled":
                self.end(identity, "cancelled")
            else:
                self.end(identity, "failed", run.error.sentence if run.error else "")
        except Exception as error:  # a thread of the executor calls this, and must go on
            logging.getLogger("evenhand").exception(
                "The end of the saved run %s could not be recorded", identity
            )
            cause = error.__cause__
            return not (is_unreachable(error) or (isinstance(cause, RunFailed) and is_unreachable(cause)))
        return True

    def _set(self, identity: str, owner: str | None, **values: str) -> None:
        found = self.get(identity, owner)
        if not self._database.change(sa.update(_RUNS).where(_RUNS.c.id == found.id).values(values)):
            raise InputError("ID", "must be the id of a saved audit", identity, "it was deleted meanwhile")

    def _sweep(self) -> None:
        """Mark runs whose process is gone as interrupted; one that had its result by then is done.

        One that a server carried out for someone starts again by itself, once, as after `hand_back`.
        """
        self.reconcile()
        going = self._database.rows(sa.select(*_RUNS.c).where(_RUNS.c.status == "running"))
        gone = [row for row in going if not goes_on(row.process, row.created, self._base)]
        gone = [row for row in gone if not self._adopt_result(row)]
        if not gone:
            return
        with self._database.writing() as connection:
            for row in gone:
                same = (
                    (_RUNS.c.id == row.id) & (_RUNS.c.status == "running") & (_RUNS.c.process == row.process)
                )
                change = {"status": "interrupted", "ended": time.time()}
                if row.owner and RESTARTED not in row.note:
                    change["error"] = _HANDED_BACK
                connection.execute(sa.update(_RUNS).where(same).values(change))

    def _adopt_result(self, row: Any) -> bool:
        """Take in the result of a run whose server ended, or had no database, before that was noted."""
        from audits.runs.result import RunResult

        store = RunStore(self._base, writes=False)
        if not row.run_key or not store.finished(row.run_key, row.owner):
            return False
        try:
            return self.finish(row.id, RunResult.load(store.folder(row.run_key, row.owner)))
        except RunFailed:  # damaged
            return False
