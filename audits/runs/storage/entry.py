"""One saved audit as it is listed, and the texts that a database can hold of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.results import verdict_as_now

if TYPE_CHECKING:
    from audits.runs.result import RunResult

STATUSES = ("running", "done", "failed", "cancelled", "interrupted")

MAX_NOTE = 10_000
_MAX_TITLE = 200


@dataclass(frozen=True)
class SavedRun:
    """One saved audit, as listed.

    Attributes
    ----------
    status : {"running", "done", "failed", "cancelled", "interrupted"}
        Interrupted: its process ended before the run did.
    owner : str
        Workspace it belongs to; empty for the command line.
    created, ended : float
        Seconds since 1970; `ended` is None while it runs.
    verdict, finding, badge : str
        Of what it says first, the finding in one sentence, the badge with its icon; empty until it is done.
        Runs of before 1.0 have no badge.
    error : str
        Why it failed, for the user.
    """

    id: str
    key: str
    title: str
    note: str
    status: str
    owner: str
    spec: dict[str, Any]
    base_dir: str
    created: float
    ended: float | None
    verdict: str
    finding: str
    error: str
    badge: str = ""

    @classmethod
    def of(cls, row: Any) -> SavedRun:
        """Read a row of the database."""
        values = dict(row._mapping)
        del values["process"]
        values |= {"key": values.pop("run_key"), "spec": json.loads(values["spec"])}
        values["verdict"] = verdict_as_now(values["verdict"])
        return cls(**values)


def audits_of(spec: Mapping[str, Any]) -> list[str]:
    """Return the names of a spec's audits."""
    return [name for item in spec.get("audits", ()) for name in item]


def default_title(spec: Mapping[str, Any]) -> str:
    """Return audits and data: what a run is called unless it is told."""
    path = spec.get("data", {}).get("path", "")
    names = [Path(part).name for part in ([path] if isinstance(path, str) else path)]
    return f"{', '.join(audits_of(spec))} · {' + '.join(names)}"


def title_of(text: str) -> str:
    """Return `text` as a title: one line, no longer than a title may be."""
    return storable(" ".join(text.split()))[:_MAX_TITLE]


def storable(text: str) -> str:
    """Return `text` without what PostgreSQL cannot hold: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def first(result: RunResult) -> tuple[str, str, str]:
    """Return verdict and badge, corrected for all audits, and sentence of what the run says first.

    Of two models that is what the second changes.
    """
    if result.compared is not None:
        changes = result.compared.changes
        return changes.verdict, changes.judged.badge_text, changes.finding
    leads = result.headline().leads
    return leads.judged.verdict, leads.badge_text, leads.sentence
