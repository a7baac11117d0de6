"""The latest finished run of each audit on the data, model and threshold that are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from app import jobs
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.runs.registry import AUDITS
from audits.runs.storage.saved import SavedRun, SavedRuns
from audits.stats import EVIDENCE
from audits.stats.badges import ICONS

KEY = 12
"""Letters of a run's key in an address."""


def latest_audits(space: Workspace, draft: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the latest record of each audit that has a result on the draft's data, model and threshold."""
    subject = _subject(draft["spec"])
    found: dict[str, dict[str, Any]] = {}
    for record in space.runs():
        audits = record["spec"].get("audits") or []
        if len(audits) != 1 or "compare" in record["spec"] or _subject(record["spec"]) != subject:
            continue
        name = AUDITS.now(next(iter(audits[0])))
        if name not in found and _ready(space, record):
            found[name] = record
    return found


def earlier_runs(space: Workspace, draft: Mapping[str, Any]) -> dict[str, str]:
    """Return, by audit, why its last run on the draft's table is none of `latest_audits`."""
    subject, found = _subject(draft["spec"]), dict[str, str]()
    for record in space.runs():
        spec = record["spec"]
        audits = spec.get("audits") or []
        if len(audits) != 1 or "compare" in spec or spec["data"]["path"] != draft["spec"]["data"]["path"]:
            continue
        same = _subject(spec) == subject
        if not same or is_outdated(space, record):
            why = "by another version of Evenhand" if same else "with other settings"
            found.setdefault(AUDITS.now(next(iter(audits[0]))), why)
    return found


def is_outdated(space: Workspace, record: Mapping[str, Any]) -> bool:
    """Whether a run was carried out by another version of the programs, so that its result is not today's."""
    try:
        return jobs.status_of(space, record["spec"]).key != record["key"]
    except InputError:
        return False  # its file is gone


def latest_comparison(space: Workspace, draft: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the latest record of a finished comparison of the draft's two models."""
    subject, second = _subject(draft["spec"]), draft.get("compare")
    for record in space.runs() if second else []:
        spec = record["spec"]
        if spec.get("compare") == second and _subject(spec) == subject and _ready(space, record):
            return record
    return None


def latest_together(
    space: Workspace, draft: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], SimpleNamespace]:
    """Return the records of `latest_audits` and their results as those of one run, with a search that finds.

    They are looked at together, so their verdicts are corrected for all of them.
    """
    latest = latest_audits(space, draft)
    runs = [jobs.result(space, record["spec"]) for record in latest.values()]
    searches = [each.search for each in runs if each.search is not None]
    search = next((each for each in searches if each.result.verdict == EVIDENCE), None)
    return latest, SimpleNamespace(audits=[each.audits[0] for each in runs], search=search)


def badge_icons(space: Workspace) -> dict[str, str]:
    """Return the icon of the latest result of each audit on the workspace's data and model, by its name."""
    draft = space.draft()
    if draft is None:
        return {}
    badges = {name: jobs.badge(space, each["spec"]) for name, each in latest_audits(space, draft).items()}
    return {name: ICONS[badge] for name, badge in badges.items() if badge in ICONS}


def linked_run(space: Workspace, draft: Mapping[str, Any], audit: str, asked: str) -> dict[str, Any] | None:
    """Return the record of the run of `audit` that a link asks for, if it is of the draft's subject."""
    for record in space.runs():
        audits = record["spec"].get("audits") or []
        if record["key"].startswith(asked) and len(audits) == 1 and audit in audits[0]:
            same = _subject(record["spec"]) == _subject(draft["spec"])
            return record if same and _ready(space, record) else None
    return None


def saved_run(space: Workspace, asked: str) -> SavedRun | None:
    """Return the saved audit that a link asks for: by its own id, or by the key of its settings."""
    runs = SavedRuns().list(owner=space.token)
    return next((run for run in runs if run.id.startswith(asked) or run.key.startswith(asked)), None)


def _ready(space: Workspace, record: Mapping[str, Any]) -> bool:
    try:
        return jobs.status_of(space, record["spec"]).finished
    except (InputError, RunFailed):
        return False  # its file is gone


def _subject(spec: Mapping[str, Any]) -> list[Any]:
    return [spec.get(name) for name in ("data", "model", "threshold", "seed")]
