"""Six specs whose numbers were recorded: a change of names or rooms leaves them as they are.

``python -m tests.golden.test_golden [NAME]`` records anew what a change of method alters; the diff of the
recorded file is then read.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audits.runs.documents import load_document
from audits.runs.executors.inline import InlineExecutor

HERE = Path(__file__).resolve().parent
NAMES = sorted(path.stem for path in (HERE / "specs").glob("*.yaml"))
SKIPPED = {"options", "warnings", "finding", "headline", "method", "notes"}
MAX = 5  # entries of a list that are recorded
TOLERANCE = 1e-6  # solvers stop, and sums are taken, from numbers rounded otherwise on another machine
TRAINED = {"law-school": 1e-3}  # so do trainings in single precision


def numbers(value: Any, path: str) -> Iterator[tuple[str, float | str | None]]:
    """Yield verdicts and numbers of an entry of results.json by where they stand."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key not in SKIPPED:
                yield from numbers(each, f"{path}/{key}")
    elif isinstance(value, list):
        for place, each in enumerate(value[:MAX]):
            yield from numbers(each, f"{path}/{place}")
    elif isinstance(value, (int, float)) or path.endswith(("/verdict", "/badge", "/decided_by")):
        yield path, value


def found(name: str) -> dict[str, float | str | None]:
    """Run a spec in this process and return its numbers."""
    path = HERE / "specs" / f"{name}.yaml"
    result = InlineExecutor().submit(load_document(path), path.parent).result().to_json()
    entries = [(f"{place} {entry['audit']}", entry) for place, entry in enumerate(result["audits"])]
    return {where: number for key, entry in entries for where, number in numbers(entry, key)}


def _same(before: Any, after: Any, tolerance: float) -> bool:
    if isinstance(before, float) and isinstance(after, (int, float)):
        return math.isclose(before, after, rel_tol=tolerance, abs_tol=tolerance)
    return bool(before == after)


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_as_recorded(name: str):
    recorded, now = json.loads((HERE / f"{name}.json").read_text()), found(name)
    tolerance = TRAINED.get(name, TOLERANCE)
    apart = [
        f"{where}: {before} was recorded, {now.get(where)} found"
        for where, before in recorded.items()
        if not _same(before, now.get(where), tolerance)
    ]
    assert not apart, "\n".join(apart[:40])


def test_every_audit_is_recorded():
    from audits.runs.registry import AUDITS

    recorded = {
        key.split("/")[0].split()[1]
        for name in NAMES
        for key in json.loads((HERE / f"{name}.json").read_text())
    }
    assert recorded >= set(AUDITS.ours)


if __name__ == "__main__":
    for each in sys.argv[1:] or NAMES:
        (HERE / f"{each}.json").write_text(json.dumps(found(each), indent=0) + "\n")
