"""`DaskExecutor`: runs carried out on the workers of a Dask cluster, when one machine is outgrown.

The run travels, data do not: a worker of the cluster reads them where they lie, under the same path, in a
worker process of its own with the limits that runs have here. Models and other files named in the spec go
along as bytes. Progress and cancel go through the scheduler; a run whose worker
dies is begun again on another.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.data.io.limits import parquet_files
from audits.errors import InputError, RunFailed
from audits.runs.executors.inline import InlineExecutor
from audits.runs.executors.job import Run, RunError
from audits.runs.executors.pool import ProcessExecutor
from audits.runs.executors.queue import RunLimits, RunRequest
from audits.runs.executors.scratch import scratch
from audits.runs.storage.store import RunStore, commit, home
from audits.runs.version import stamp

if TYPE_CHECKING:
    from distributed import Client, Future

    from audits.parallel import Divide
    from audits.runs.spec import Spec

_CONNECT_SECONDS = 10
_LOOK_SECONDS = 0.2
_MAX_SHIPPED = 200_000_000


class DaskExecutor:
    """Carries out runs on a Dask cluster; safe to share between threads.

    Parameters
    ----------
    address : str, optional
        Of the scheduler; by default ``EVENHAND_DASK_SCHEDULER``. With ``EVENHAND_DASK_CA``,
        ``EVENHAND_DASK_CERT`` and ``EVENHAND_DASK_KEY`` (files) the connection is by TLS.
    base : Path, optional
        Home folder for results; by default ``EVENHAND_HOME``.
    limits : RunLimits, optional
        What a run may take on a worker; by default there are no limits.

    Raises
    ------
    InputError
        If no scheduler is named or answers there, or a worker has other versions than this process.
    """

    def __init__(
        self, address: str | None = None, *, base: Path | None = None, limits: RunLimits | None = None
    ) -> None:
        self._address = address or os.environ.get("EVENHAND_DASK_SCHEDULER") or ""
        self._store, self._limits = RunStore(base or home()), limits or RunLimits()
        self._client = _connect(self._address)
        try:
            self._check_versions()
        except BaseException:
            self._client.close()
            raise

    def __enter__(self) -> DaskExecutor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; what is running there is cancelled."""
        self._client.close()

    def submit(self, spec: Mapping[str, Any], base_dir: Path, owner: str | None = None) -> Run:
        """Have `spec` carried out, whose paths are relative to `base_dir`; returns at once."""
        run = Run("", owner)
        with run.failing():
            parsed, digests = run.check(spec, base_dir)
            shipped = _files_to_ship(parsed)
        if run.finished:
            return run
        job = RunRequest(run, parsed, digests, self._store)
        if self._store.finished(run.key, owner):
            run.finish(job.read)
            return run
        given = (job, digests, shipped)
        threading.Thread(target=self._see_to_its_end, args=given, name="evenhand-dask", daemon=True).start()
        return run

    def _check_versions(self) -> None:
        """Refuse workers whose numbers could differ: the stamp that keys of runs are made of."""
        here = stamp()
        for worker, there in self._client.run(stamp).items():
            other = [name for name, version in here.items() if there.get(name) != version]
            if other:
                raise InputError(
                    "EVENHAND_DASK_SCHEDULER",
                    f"must lead to workers with the same versions, but {worker} has another "
                    f"{', '.join('code' if name == 'source' else name for name in other)}",
                    advice="install the same there as here, and start the workers again",
                )

    def _see_to_its_end(self, job: RunRequest, digests: list[str], shipped: dict[str, bytes]) -> None:
        """Hand a run to the cluster, pass on its progress, and take its result."""
        from distributed import CancelledError, Event

        run, spec = job.run, job.spec
        topic = f"evenhand-{run.id}"
        stop = Event(topic, client=self._client)
        run.on_cancel(stop.set)
        if not run.begin():
            run.end_cancelled()
            return
        with run.failing():
            try:
                self._client.subscribe_topic(topic, lambda event: run.report(*event[1]))
                work = _carry_out_divided if _divisible(spec, shipped) else _carry_out
                task = _Task(spec.to_dict(), spec.base_dir, digests, shipped, topic, self._limits)
                future = self._client.submit(work, task, key=topic, pure=False)
                while not future.done():
                    if self._client.status != "running":
                        raise OSError("the connection is lost")
                    _wait_a_little(self._client, future)
                found = future.result()
            except (CancelledError, OSError, TimeoutError) as error:
                gone = f"The Dask scheduler at {self._address} is gone ({type(error).__name__})"
                raise RunFailed(f"{gone}; the run is lost, and can be started again.") from error
            with contextlib.suppress(Exception):  # nothing hangs on it
                self._client.unsubscribe_topic(topic)
            self._settle(job, found)

    def _settle(self, job: RunRequest, found: bytes | dict[str, str] | None) -> None:
        if found is None:
            job.run.end_cancelled()
        elif isinstance(found, dict):
            job.run.fail(RunError(**found))  # type: ignore[arg-type]
        else:
            job.partial.mkdir()
            with zipfile.ZipFile(io.BytesIO(found)) as archive:
                archive.extractall(job.partial)
            commit(job.partial, job.folder)
            job.run.finish(job.read)


def _connect(address: str) -> Client:
    if not address:
        raise InputError(
            "EVENHAND_DASK_SCHEDULER", "must name the scheduler's address", advice="such as tcp://host:8786"
        )
    from distributed import Client
    from distributed.security import Security

    names = {"tls_ca_file": "CA", "tls_client_cert": "CERT", "tls_client_key": "KEY"}
    files = {name: os.environ.get(f"EVENHAND_DASK_{end}") for name, end in names.items()}
    security = Security(require_encryption=True, **files) if any(files.values()) else None
    try:
        return Client(address, timeout=_CONNECT_SECONDS, security=security, set_as_default=False)
    except (OSError, ValueError, TypeError, TimeoutError) as error:
        raise InputError(
            "EVENHAND_DASK_SCHEDULER",
            f"must be the address of a Dask scheduler that answers ({type(error).__name__})",
            address,
        ) from None


def _files_to_ship(spec: Spec) -> dict[str, bytes]:
    """Return the bytes of every file of a spec that is no data, by the path as it is written."""
    found: dict[str, bytes] = {}
    for where, written, path in spec.paths():
        if not where.startswith("data.path"):
            if path.stat().st_size > _MAX_SHIPPED:
                raise InputError(where, f"must have at most {_MAX_SHIPPED / 1e6:,.0f} MB to be sent", written)
            found[written] = path.read_bytes()
    return found


@dataclass(frozen=True)
class _Task:
    """What goes to a worker of the cluster: a spec, the files that come along, and where it is heard of."""

    spec: dict[str, Any]
    base_dir: Path
    digests: list[str]
    shipped: dict[str, bytes]
    topic: str
    limits: RunLimits


def _carry_out(task: _Task) -> bytes | dict[str, str] | None:
    """Carry out a run on a worker of the cluster: its result's folder as a ZIP, its error, None if cancelled.

    The models are opened where they are opened here: in a process of their own, within `limits`.
    """
    from distributed import Event, get_client, get_worker

    worker, stop = get_worker(), Event(task.topic, client=get_client())
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        local = _local(task, Path(folder))
        with ProcessExecutor(1, base=Path(folder) / "home", warm=False, limits=task.limits) as executor:
            run = executor.submit(local, Path(folder))
            while not run.wait(_LOOK_SECONDS):
                now = run.progress
                worker.log_event(task.topic, [now.fraction, now.doing])
                if stop.is_set():
                    run.cancel()
        return _outcome(run, local, Path(folder), task.digests)


def _divisible(spec: Spec, shipped: Mapping[str, bytes]) -> bool:
    """Tell whether a table of several files is counted, by no model that was brought: all workers count.

    What a stranger's file makes is opened in a process with limits, which knows nothing of the cluster.
    """
    return not shipped and spec.streamed and len(parquet_files(spec.data_paths())) > 1


def _carry_out_divided(task: _Task) -> bytes | dict[str, str] | None:
    """As `_carry_out`, in this process; files of the table are counted by every worker of the cluster.

    No files come along, and the limits are Dask's own for its workers.
    """
    from distributed import Event, get_worker, worker_client

    from audits.errors import RunCancelled
    from audits.parallel import use_workers

    worker, last = get_worker(), [0.0]
    with worker_client() as client:
        stop = Event(task.topic, client=client)

        def progress(fraction: float, doing: str) -> None:
            if time.monotonic() - last[0] < _LOOK_SECONDS:
                return
            worker.log_event(task.topic, [fraction, doing])
            if stop.is_set():
                raise RunCancelled
            last[0] = time.monotonic()

        with use_workers(divide_among(client, stop.is_set)):
            run = InlineExecutor(progress).submit(task.spec, task.base_dir)
        progress(1.0, "Saved")
        return _outcome(run, task.spec, task.base_dir, task.digests)


def _outcome(
    run: Run, spec: dict[str, Any], base_dir: Path, digests: list[str]
) -> bytes | dict[str, str] | None:
    """Return what `_carry_out` does of a run that is over; data must be those that it was asked for."""
    from audits.runs.spec import parse_spec

    if run.status == "cancelled":
        return None
    if run.error is not None:
        return asdict(run.error)
    result = run.result()
    if result.data.get("sha256") and parse_spec(spec, base_dir).digests() != digests:
        return asdict(
            RunError("input", "data.path must hold the same bytes there as here.", where="data.path")
        )
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        result.save(Path(folder) / "saved")
        return Path(shutil.make_archive(f"{folder}/result", "zip", f"{folder}/saved")).read_bytes()


def divide_among(client: Client, stopped: Callable[[], bool]) -> Divide:
    """Return what has pieces worked on by all workers of a cluster, until `stopped` says so.

    What a piece gives is fetched once, from the worker that has it; not at all where that is this process.
    """
    from audits.errors import RunCancelled

    def divide(work: Any, common: tuple[Any, ...], pieces: Sequence[Any]) -> Iterator[Any]:
        held = client.scatter(list(common), broadcast=True, hash=False)
        sent = [client.submit(work, *held, piece, pure=False) for piece in pieces]
        try:
            for future in sent:
                while not future.done():
                    if stopped():
                        raise RunCancelled
                    _wait_a_little(client, future)
                yield client.gather(future, direct=True)
                future.release()
        finally:
            client.cancel([future for future in sent if not future.done()])

    return divide


def _wait_a_little(client: Client, future: Future) -> None:
    """Wait for a task without fetching what it gives, as its `result` would with every look."""
    from distributed import wait

    with client.as_current(), contextlib.suppress(TimeoutError):
        wait(future, timeout=_LOOK_SECONDS)


def _local(task: _Task, folder: Path) -> dict[str, Any]:
    """Return the spec with data named by their whole path, and what came along written beside it."""
    spec = task.spec
    for written, content in task.shipped.items():
        place = folder / written
        if not place.resolve().is_relative_to(folder.resolve()):
            raise RunFailed(f"{written!r} is outside the spec's folder; put the file beside the spec.")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    path = spec["data"]["path"]
    listed = [path] if isinstance(path, str) else path
    whole = [str(task.base_dir / each) for each in listed]
    return {**spec, "data": {**spec["data"], "path": whole[0] if isinstance(path, str) else whole}}
