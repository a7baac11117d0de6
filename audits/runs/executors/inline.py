"""`InlineExecutor`: runs carried out in the calling thread."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audits.progress import Progress, silent
from audits.runs.executors.job import Run


class InlineExecutor:
    """Carries out each run before `submit` returns, in the calling thread.

    Parameters
    ----------
    progress : callable, optional
        Told how far a run is; may raise `RunCancelled`.
    """

    def __init__(self, progress: Progress = silent) -> None:
        self._progress = progress

    def submit(self, spec: Mapping[str, Any], base_dir: Path, owner: str | None = None) -> Run:
        """Carry out `spec`, whose paths are relative to `base_dir`; the run returned is over."""
        from audits.runs.execute import execute

        run = Run("", owner)
        with run.failing():
            parsed, digests = run.check(spec, base_dir)
            run.begin()
            result = execute(parsed, digests=digests, progress=self._progress)
            run.finish(lambda: result)
        return run
