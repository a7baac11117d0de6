"""Runs that the database does not know yet because it was away: one file each, until it is back."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audits.errors import os_failure
from audits.runs.storage.store import write_json


class Spool:
    """The runs that wait in a home folder's ``pending``."""

    def __init__(self, base: Path) -> None:
        self._folder = base / "pending"

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep the row of a run.

        Raises
        ------
        RunFailed
            If it cannot be written.
        """
        with os_failure("The run cannot be recorded"):
            write_json(self._folder / f"{row['id']}.json", row)

    def all(self) -> list[dict[str, Any]]:
        """Return the rows that wait; one that cannot be read is left where it is."""
        found = []
        for path in sorted(self._folder.glob("*.json")):
            with contextlib.suppress(OSError, ValueError):
                found.append(json.loads(path.read_text(encoding="utf-8")))
        return found

    def remove(self, identity: str) -> None:
        """Let go of a row."""
        (self._folder / f"{identity}.json").unlink(missing_ok=True)
