"""`Run`: what a caller holds of a run that is queued, running or over."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from audits.errors import InputError, RunCancelled, RunFailed, distribution_name, how_to_install
from audits.progress import CurvePoint

if TYPE_CHECKING:
    from audits.runs.result import RunResult
    from audits.runs.spec import Spec

Status = Literal["queued", "running", "done", "failed", "cancelled"]

_MIN_BASIS = 1.0  # seconds of work before a time left is worth stating
_SMALLEST_BASIS = 0.03
_MAX_CURVE = 5000  # points kept of a running training; the result holds them all


@dataclass(frozen=True)
class RunProgress:
    """How far a run is: `fraction` in [0, 1], what it is doing, and about how many seconds are left.

    `curve` holds the points of the training curve so far, of a run that trains something step by step.
    """

    fraction: float
    doing: str
    seconds_left: float | None
    curve: tuple[CurvePoint, ...] = ()


@dataclass(frozen=True)
class RunError:
    """Why a run gave no result.

    Attributes
    ----------
    kind : {"input", "failed"}
        Whether the user's input is wrong, or something broke.
    sentence : str
        For the user.
    details : str
        Traceback and the worker's last words, for whoever looks into it.
    where : str
        The spec key, file or column at fault, with which `sentence` begins; empty unless the input is wrong.
    """

    kind: Literal["input", "failed"]
    sentence: str
    details: str = ""
    where: str = ""

    @classmethod
    def of(cls, error: Exception) -> RunError:
        """Return what a user is told about an exception; called while it is handled."""
        if isinstance(error, InputError):
            return cls("input", str(error), where=error.where)
        details = traceback.format_exc()
        if isinstance(error, RunFailed):
            return cls("failed", str(error), details)
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            return cls(
                "failed",
                "The run needs more memory than is available. Use fewer rows or features.",
                details,
            )
        if isinstance(error, ModuleNotFoundError) and error.name:
            needs = f"The run needs {distribution_name(error.name)}, which is not installed here"
            return cls("failed", f"{needs}; {how_to_install(error.name)}.", details)
        message = " ".join(str(error).split()).rstrip(".") or "no message"
        return cls("failed", f"The run failed ({type(error).__name__}: {message}).", details)

    def exception(self) -> InputError | RunFailed:
        """Return the error as it is raised."""
        if self.kind == "input":
            return InputError(self.where, self.sentence[len(self.where) + 1 :].removesuffix("."))
        failed = RunFailed(self.sentence)
        if self.details:
            failed.add_note(self.details)
        return failed


class Run:
    """A run and how it stands; safe to ask from any thread.

    Attributes
    ----------
    id : str
        Unique name of this submission.
    key : str
        SHA-256 over all that decides the numbers; empty if the spec could not be read.
    owner : str or None
        Whoever submitted it.
    status : {"queued", "running", "done", "failed", "cancelled"}
    error : RunError or None
        Why it failed; None unless it did.
    answer : dict, list or None
        Of a question what was answered, as `audits.models.what_if.what_if` returns it.
    """

    def __init__(self, key: str, owner: str | None) -> None:
        self.id = uuid.uuid4().hex
        self.key = key
        self.owner = owner
        self.submitted = time.time()
        self._changed = threading.Condition()
        self.status: Status = "queued"
        self._fraction, self._doing = 0.0, "Waiting for a free worker"
        self._at_once = 0.0  # how far it came in its first second: what was read before tells no speed
        self._curve: deque[CurvePoint] = deque(maxlen=_MAX_CURVE)
        self._started: float | None = None
        self.error: RunError | None = None
        self._read: Callable[[], RunResult] | None = None
        self._stop: Callable[[], None] | None = None
        self._after: list[Callable[[], None]] = []
        self.cancel_requested = False
        self.answer: Any = None

    def check(self, spec: Mapping[str, Any], base_dir: Path) -> tuple[Spec, list[str]]:
        """Take the key of a spec whose paths are relative to `base_dir`; return it checked, with its digests.

        Raises
        ------
        InputError
            If it is wrong.
        """
        from audits.runs.spec import parse_spec  # late: workers load their libraries meanwhile

        parsed = parse_spec(spec, base_dir)
        digests = parsed.digests()
        self.key = parsed.key(digests)
        return parsed, digests

    @property
    def finished(self) -> bool:
        """Tell whether nothing about this run will change any more."""
        return self.status in {"done", "failed", "cancelled"}

    @property
    def progress(self) -> RunProgress:
        """Return how far the run is now."""
        with self._changed:
            return RunProgress(self._fraction, self._doing, self._seconds_left(), tuple(self._curve))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run is over, at most `timeout` seconds; tell whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self.finished, timeout)

    def result(self) -> RunResult:
        """Wait for the run and return its result.

        Raises
        ------
        InputError
            If the user's input is wrong.
        RunFailed
            If something broke.
        RunCancelled
            If the run was cancelled.
        """
        self.wait()
        if self.status == "cancelled":
            raise RunCancelled("The run was cancelled.")
        if self.error is not None:
            raise self.error.exception()
        return self._read()  # type: ignore[misc]

    def cancel(self) -> None:
        """Stop the run; returns at once. A run that is over stays as it is."""
        with self._changed:
            if self.finished or self.cancel_requested:
                return
            self.cancel_requested = True
            stop = self._stop
        if stop is not None:
            stop()

    def on_cancel(self, stop: Callable[[], None]) -> None:
        """Say what stops the run: for executors."""
        self._stop = stop

    def on_end(self, after: Callable[[], None]) -> None:
        """Have `after` called once the run is over: at once if it is, else in the thread that ends it."""
        with self._changed:
            if not self.finished:
                self._after.append(after)
                return
        after()

    def begin(self) -> bool:
        """Mark the run as running; False if it was cancelled before: for executors."""
        with self._changed:
            if self.finished or self.cancel_requested:
                return False
            self.status, self._started, self._doing = "running", time.monotonic(), "Starting"
            self._changed.notify_all()
            return True

    def report(self, fraction: float, doing: str, curve: Iterable[CurvePoint] = ()) -> None:
        """Note progress, which never goes back, and new points of a training curve: for executors."""
        with self._changed:
            self._curve.extend(curve)
            self._fraction = max(self._fraction, min(max(fraction, 0.0), 1.0))
            if self._started is None or time.monotonic() - self._started < _MIN_BASIS:
                self._at_once = self._fraction
            self._doing = doing

    def finish(self, read: Callable[[], RunResult]) -> None:
        """Mark the run as done; `read` gives its result: for executors."""
        self._read = read
        self._fraction, self._doing = 1.0, "Done"
        self._end("done")

    def fail(self, error: RunError) -> None:
        """Mark the run as failed: for executors."""
        self.error = error
        self._end("failed")

    @contextlib.contextmanager
    def failing(self) -> Iterator[None]:
        """Have whatever breaks meanwhile end this run, and be told to the user: for executors."""
        try:
            yield
        except RunCancelled:
            self.end_cancelled()
        except Exception as error:  # noqa: BLE001  (told to the user, as by a worker)
            self.fail(RunError.of(error))

    def end_cancelled(self) -> None:
        """Mark the run as cancelled: for executors."""
        self._end("cancelled")

    def _end(self, status: Status) -> None:
        with self._changed:
            self.status, self._stop = status, None
            after, self._after = self._after, []
            self._changed.notify_all()
        for call in after:
            call()

    def _seconds_left(self) -> float | None:
        done = self._fraction - self._at_once
        if self._started is None or self.finished or done < _SMALLEST_BASIS:
            return None
        spent = time.monotonic() - self._started
        return spent * (1 - self._fraction) / done if spent >= _MIN_BASIS else None
