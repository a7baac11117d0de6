"""Results of the bundled examples that were computed beforehand, so that an example opens with what it shows.

``sample_data/results/<digest>.zip`` holds the files of one run, under the digest of its spec and of what its
files hold; ``python -m benchmarks.examples`` computes them again.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.drafts.drafts import SAMPLES
from audits.groups.figures.ranked import ranked_groups
from audits.groups.names import people_of
from audits.groups.text import among_words
from audits.runs.result import RunResult
from audits.runs.spec import Spec
from audits.runs.storage.store import RunStore, commit
from audits.runs.version import VERSION
from audits.stats.vocabulary import speaking, vocabulary
from audits.text import begun

RESULTS = SAMPLES / "results"


def result_file(spec: Spec, digests: Sequence[str]) -> Path:
    """Return where the result of an example's spec lies, if it is bundled."""
    return RESULTS / f"{spec.content_key(list(digests))[:24]}.zip"


@dataclass(frozen=True)
class ExampleFinding:
    """What a card of an example shows: what is measured, the group of the sentence, its rate, everyone's."""

    sentence: str
    measure: str
    group: str
    rate: float
    everyone: float


@cache
def finding(name: str) -> ExampleFinding | None:
    """Return what the bundled comparison of groups found in an example; None where there is none."""
    for file in sorted(RESULTS.glob("*.zip")):
        with zipfile.ZipFile(file) as archive:
            if not any(each.endswith("-groups.json") for each in archive.namelist()):
                continue
            spec = json.loads(archive.read("results.json"))["spec"]
            if Path(str(spec["data"]["path"])).stem != name:
                continue
            with tempfile.TemporaryDirectory() as folder:
                archive.extractall(folder)
                audit = RunResult.load(Path(folder)).audits[0]
            with speaking(audit.words):
                shown = ranked_groups(audit.result)
                if shown is None:
                    return None
                row = shown.focus or shown.rows[0]
                words, about = vocabulary(), among_words(shown.rate)
                measure = begun(words.rate_yes) + (f", {words.people}{about}" if about else "")
                rates = (shown.value(row), shown.everyone)
                return ExampleFinding(audit.headline, measure, people_of(row), *rates)
    return None


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
            if json.loads(archive.read("results.json"))["evenhand"] == VERSION:
                archive.extractall(partial)
                commit(partial, store.folder(key, owner))
                return True
    except (OSError, zipfile.BadZipFile):  # of another version, or there is no room: it is run
        pass
    store.discard(partial)
    return False
