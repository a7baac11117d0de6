"""What an earlier version saved still opens: runs of every audit, how they ended, their reports, a monitor.

Each ``home-VERSION.tar.gz`` is an ``EVENHAND_HOME`` as that version left it (see make_home.py), with what it
said of its runs in ``expected.json``. The folders that the runs were made in are gone, which must not matter.
"""

from __future__ import annotations

import html
import json
import math
import re
import tarfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from audits.monitor.monitors import Monitors
from audits.results import verdict_as_now as as_now
from audits.runs.registry import AUDITS
from audits.runs.spec import parse_spec
from audits.runs.storage.database import database
from audits.runs.storage.saved import SavedRuns
from tests.cli.conftest import cli  # noqa: F401  (a fixture)
from tests.refused import refused

MOVED: dict[str, str] = {
    "*/schema": "what is opened is shown in the present schema",
    "*verdict": "`no evidence at this size` rested on power; it opens as insufficient evidence",
    "*/audits/*/interval": "every audit's entry begins with the interval that its verdict follows from",
    "*/audits/*/p_value": "likewise, with the p-value that has to agree",
    "*/audits/*/metric/weights": "a figure over weights of the metric is drawn by benchmarks/papers",
    "*/audits/*/comparisons": "other searches on the same people are run by benchmarks/papers",
    "*/audits/*/words/estimated": "no search for larger losses clears a model, with or without gradients",
    "*/headline/text": "a headline is worded when a result is opened",
    "*/audits/*/headline": "likewise",
    "*/audits/*/material": "the interval against the limit, whatever the verdict",
}
"""Values of old runs that are meant to be shown otherwise now: a pattern of title/keys, and the reason."""

EXACT = 1e-9  # room for the same sum in another order
ELSEWHERE = 1e-6  # room for a machine that rounds otherwise
_ABSENT = object()

HOMES = sorted(Path(__file__).parent.glob("home-*.tar.gz"))


def differences(before: Any, after: Any, path: str) -> Iterator[str]:
    """Tell what was recorded and is not so now, at the innermost path where it shows."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            yield from differences(value, after.get(key, _ABSENT), f"{path}/{key}")
    elif isinstance(before, list) and isinstance(after, list):
        for place, value in enumerate(before):
            yield from differences(value, (after[place:] or [_ABSENT])[0], f"{path}/{place}")
    elif not _same(before, after) and not any(fnmatchcase(path, pattern) for pattern in MOVED):
        yield f"{path}\n    before: {before!r}\n    after:  {after!r}"


def _same(before: Any, after: Any) -> bool:
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (before, after)]
    if all(numbers):
        return math.isclose(before, after, rel_tol=EXACT, abs_tol=EXACT)
    return type(before) is type(after) and before == after


@pytest.fixture(params=HOMES, ids=lambda path: path.name.removesuffix(".tar.gz"))
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    with tarfile.open(request.param) as archive:
        archive.extractall(folder, filter="data")
    monkeypatch.delenv("EVENHAND_DATABASE_URL", raising=False)
    monkeypatch.setenv("EVENHAND_HOME", str(folder))
    return folder


@pytest.fixture
def expected(home: Path) -> dict[str, Any]:
    return json.loads((home / "expected.json").read_text(encoding="utf-8"))


def test_there_is_a_home_with_every_audit():
    assert HOMES
    for path in HOMES:
        with tarfile.open(path) as archive:
            content = json.load(archive.extractfile("expected.json"))
        audits = {audit["audit"] for run in content["runs"] for audit in run["results"]["audits"]}
        assert audits <= set(AUDITS)
        assert path.name != "home-0.1.0.tar.gz" or len(audits) == 8


def test_all_runs_are_listed_as_they_were(home: Path, expected: dict[str, Any]):
    listed = {run.id: run for run in SavedRuns(home).list()}
    ended = {expected[status]["id"]: status for status in ("failed", "cancelled")}
    assert len(listed) == len(expected["runs"]) + len(ended)
    for run in expected["runs"]:
        found = listed[run["id"]]
        assert found.status == "done"
        assert [found.title, found.verdict, found.finding] == [
            run["title"],
            as_now(run["verdict"]),
            run["finding"],
        ]
    for identity, status in ended.items():
        assert listed[identity].status == status
        with refused("the saved audit", status):
            SavedRuns(home).load(identity)
    assert listed[expected["failed"]["id"]].error == expected["failed"]["error"] != ""
    assert [run.id for run in SavedRuns(home).list(text="owner of the data")] == [expected["runs"][0]["id"]]


def test_every_result_opens_with_all_its_numbers(home: Path, expected: dict[str, Any]):
    for run in expected["runs"]:
        result = SavedRuns(home).load(run["id"])
        unexpected = [*differences(run["results"], result.to_json(), run["title"])]
        assert not unexpected, "\n".join(unexpected)
        for before, audit in zip(run["results"]["audits"], result.audits, strict=True):
            assert audit.result.verdict == as_now(before["verdict"])
            assert audit.result.finding == before["finding"]
            assert audit.result.finding in re.sub(r"<[^>]*>", "", html.unescape(audit._repr_html_()))
        assert len(result.tables) >= len(result.audits)
    for run in SavedRuns(home).list():  # a spec still parses, so that it can run again where its data are
        asked = [request.name for request in parse_spec(run.spec, home).audits]
        assert asked == [next(iter(audit)) for audit in run.spec["audits"]]


def test_the_command_line_shows_them(home: Path, expected: dict[str, Any], cli, monkeypatch):  # noqa: F811
    monkeypatch.setenv("EVENHAND_HOME", str(home))  # the fixture cli has set one of its own

    def shown(*asked: str) -> str:
        told = cli("runs", *asked)
        assert told.status == 0
        return " ".join(told.out.split())

    for run in expected["runs"]:
        words = shown("show", run["id"][:12])
        for place, audit in enumerate(run["results"]["audits"], start=1):
            assert f"{place}. {audit['audit']}: " in words
            assert " ".join(audit["finding"].split()) in words
    shown("compare", *(run["id"] for run in expected["runs"][:2]))
    assert expected["failed"]["error"].split(",")[0] in " ".join(
        cli("runs", "show", expected["failed"]["id"]).out.split()
    )


def test_reports_of_them_are_made(home: Path, expected: dict[str, Any], cli, tmp_path):  # noqa: F811
    reported: set[str] = set()
    for run in expected["runs"]:
        names = {audit["audit"] for audit in run["results"]["audits"]}
        if names <= reported:
            continue
        made = tmp_path / run["id"]
        SavedRuns(home).export(run["id"], made)
        for form in ("html",) if reported else ("json", "card", "html"):
            assert cli("report", made, "--format", form, "--out", made.with_suffix(f".{form}")).status == 0
        reported |= names
        text = html.unescape(re.sub(r"<[^>]*>", "", made.with_suffix(".html").read_text(encoding="utf-8")))
        for audit in run["results"]["audits"]:
            assert " ".join(audit["finding"].split()) in " ".join(text.split())


def test_a_monitor_measures_as_it_did(home: Path, expected: dict[str, Any]):
    monitors, before = Monitors(database(home)), expected["monitor"]
    monitor = monitors.get(before["id"])
    assert (monitor.people, len(monitors.points(monitor.id))) == (3, 1)
    measured = monitor.bundle.score(before["rows"]).sensitivity.tolist()
    assert measured == pytest.approx(before["sensitivity"], rel=ELSEWHERE)
