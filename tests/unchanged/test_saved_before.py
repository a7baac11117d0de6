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
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Difference:
    """A value that is not as it was recorded."""

    path: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.path}\n    before: {self.before!r}\n    after:  {self.after!r}"


def differences(before: Any, after: Any, path: str, tolerance: float) -> Iterator[Difference]:
    """Yield all that differs between two documents, at the innermost path where it shows."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            parts = before.get(key, _ABSENT), after.get(key, _ABSENT)
            yield from differences(*parts, f"{path}/{key}", tolerance)
    elif isinstance(before, list) and isinstance(after, list):
        for place in range(max(len(before), len(after))):
            parts = (side[place] if place < len(side) else _ABSENT for side in (before, after))
            yield from differences(*parts, f"{path}/{place}", tolerance)
    elif not _same(before, after, tolerance):
        yield Difference(path, before, after)


def is_new(one: Difference) -> bool:
    """Tell whether a difference is a key that was not there before."""
    return one.before is _ABSENT


def _same(before: Any, after: Any, tolerance: float) -> bool:
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (before, after)]
    if all(numbers):
        return math.isclose(before, after, rel_tol=tolerance, abs_tol=tolerance)
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
        unexpected = [
            one
            for one in differences(run["results"], result.to_json(), run["title"], EXACT)
            if not is_new(one) and not any(fnmatchcase(one.path, pattern) for pattern in MOVED)
        ]
        assert not unexpected, "\n".join(map(str, unexpected))
        for before, audit in zip(run["results"]["audits"], result.audits, strict=True):
            assert audit.result.verdict == as_now(before["verdict"])
            assert audit.result.finding == before["finding"]
            assert audit.result.finding in re.sub(r"<[^>]*>", "", html.unescape(audit._repr_html_()))
        assert len(result.tables) >= len(result.audits)


def test_every_spec_still_parses(home: Path, expected: dict[str, Any]):
    """So that an old run can be started again where its data are."""
    for run in SavedRuns(home).list():
        spec = parse_spec(run.spec, home)
        assert [request.name for request in spec.audits] == [
            next(iter(audit)) for audit in run.spec["audits"]
        ]


def test_the_command_line_shows_them(home: Path, expected: dict[str, Any], cli, monkeypatch):  # noqa: F811
    monkeypatch.setenv("EVENHAND_HOME", str(home))  # the fixture cli has set one of its own
    for run in expected["runs"]:
        shown = cli("runs", "show", run["id"][:12])
        assert shown.status == 0
        words = " ".join(shown.out.split())
        for place, audit in enumerate(run["results"]["audits"], start=1):
            finding = " ".join(audit["finding"].split())
            assert f"{place}. {audit['audit']}: " in words
            assert finding in words
    first, second = (run["id"] for run in expected["runs"][:2])
    assert cli("runs", "compare", first, second).status == 0
    assert expected["failed"]["error"].split(",")[0] in " ".join(
        cli("runs", "show", expected["failed"]["id"]).out.split()
    )


def test_reports_of_them_are_made(home: Path, expected: dict[str, Any], cli, tmp_path):  # noqa: F811
    for place, run in enumerate(expected["runs"]):
        folder = tmp_path / run["id"]
        SavedRuns(home).export(run["id"], folder)
        made = tmp_path / run["id"]
        for form in ("html",) if place else ("json", "card", "html"):
            assert cli("report", folder, "--format", form, "--out", made.with_suffix(f".{form}")).status == 0
        text = html.unescape(re.sub(r"<[^>]*>", "", made.with_suffix(".html").read_text(encoding="utf-8")))
        words = " ".join(text.split())
        for audit in run["results"]["audits"]:
            assert " ".join(audit["finding"].split()) in words


def test_a_monitor_measures_as_it_did(home: Path, expected: dict[str, Any]):
    monitors, before = Monitors(database(home)), expected["monitor"]
    monitor = monitors.get(before["id"])
    assert (monitor.people, len(monitors.points(monitor.id))) == (3, 1)
    measured = monitor.bundle.score(before["rows"]).sensitivity.tolist()
    assert measured == pytest.approx(before["sensitivity"], rel=ELSEWHERE)
