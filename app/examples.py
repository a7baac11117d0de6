"""Results of the bundled examples that were computed beforehand, so that an example opens with what it shows.

``sample_data/results/<digest>.zip`` holds the files of one run, under the digest of its spec and of what its
files hold; ``python -m benchmarks.examples`` computes them again.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from app.drafting.drafts import SAMPLES
from audits.errors import RunFailed
from audits.runs.result import RunResult
from audits.runs.spec import Spec
from audits.runs.storage.store import RunStore, commit
from audits.runs.version import VERSION

__all__ = ["RESULTS", "lay_out", "pack", "result_file"]

RESULTS = SAMPLES / "results"


def result_file(spec: Spec, digests: Sequence[str]) -> Path:
    """Return where the result of an example's spec lies, if it is bundled."""
    return RESULTS / f"{spec.content_key(list(digests))[:24]}.zip"


def pack(result: Path, file: Path) -> None:
    """Write the files of a finished run into `file`, the same bytes whenever they are the same."""
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        for path in sorted(each for each in result.rglob("*") if each.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(result).as_posix())
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_LZMA)


def lay_out(file: Path, store: RunStore, key: str, owner: str) -> bool:
    """Lay out a bundled result as that of the run `key`; tell whether it could be read."""
    partial = store.partial(key, f"example-{owner[:8]}")
    try:
        with zipfile.ZipFile(file) as archive:
            archive.extractall(partial)
        if RunResult.load(partial).evenhand == VERSION:
            commit(partial, store.folder(key, owner))
            return True
    except (OSError, zipfile.BadZipFile, RunFailed):  # of another version, or there is no room: it is run
        pass
    store.discard(partial)
    return False
