"""Saved audits on SQLite and on a real PostgreSQL server: nothing lost, nothing half, failures told."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from audits.errors import RunFailed
from audits.runs.executors.inline import InlineExecutor
from audits.runs.gates.compare import before_and_after, compare_runs, comparison_frame
from audits.runs.result import RunResult
from audits.runs.storage.database import Database, database
from audits.runs.storage.saved import SavedRuns
from audits.runs.storage.schema import MIGRATIONS
from tests.refused import refused
from tests.runs.conftest import make_spec
from tests.runs.postgres import serve

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def postgres():
    with serve() as url:
        yield url


BOTH = pytest.mark.parametrize("store", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def store(request, tmp_path, monkeypatch) -> SavedRuns:
    if getattr(request, "param", "sqlite") == "postgresql":
        url = request.getfixturevalue("postgres")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        # a name of its own, so that the process's remembered engine is not the last test's
        monkeypatch.setenv("EVENHAND_DATABASE_URL", f"{url}&application_name={tmp_path.name}")
    return SavedRuns()


def carry_out(base: Path, **changes) -> RunResult:
    return InlineExecutor().submit(make_spec(**changes), base).result()


def files_of(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "home" / "artefacts").rglob("*") if path.is_file()]


@BOTH
def test_what_was_saved_comes_back_whole(store, base):
    result = carry_out(base)
    identity = store.begin(result.spec, base)
    assert store.get(identity).status == "running"
    assert store.finish(identity, result)
    found = store.get(identity[:8])
    assert (found.status, found.verdict) == ("done", result.audits[0].result.verdict)
    assert found.title == "rates · people.csv"
    assert store.load(identity).to_json() == result.to_json()
    [again] = store.list()
    assert again == found


@BOTH
def test_filters(store, base):
    result = carry_out(base)
    first = store.begin(result.spec, base, title="Loans 2024", owner="a")
    second = store.begin(result.spec, base, title="Hiring", owner="b")
    store.finish(first, result)
    store.end(second, "failed", "It broke.")

    def ids(**wanted):
        return [run.id for run in store.list(**wanted)]

    assert ids() == [second, first]
    verdict = store.get(first).verdict
    for wanted in ({"owner": "a"}, {"status": "done"}, {"text": "LOANS"}, {"verdict": verdict}):
        assert ids(**wanted) == [first]
    assert ids(audit="flipset") == ids(owner="c") == []
    with refused("ID"):
        store.get(first, owner="b")
    with refused("the saved audit", "It broke"):
        store.load(second)


def test_equal_files_are_kept_once_and_go_with_the_last_that_has_them(store, base, tmp_path):
    result = carry_out(base)
    first, second = (store.begin(result.spec, base) for _ in range(2))
    store.finish(first, result)
    kept = files_of(tmp_path)
    store.finish(second, result)
    assert sorted(files_of(tmp_path)) == sorted(kept)
    store.delete(first)
    assert store.load(second).to_json() == result.to_json()
    store.delete(second)
    assert files_of(tmp_path) == []
    assert store.list() == []


def test_a_run_deleted_elsewhere_does_not_come_back(store, base, tmp_path):
    result = carry_out(base)
    running, opened = store.begin(result.spec, base), store.begin(result.spec, base)
    store.finish(opened, result)
    in_memory = store.load(opened)
    SavedRuns().delete(running)
    SavedRuns().delete(opened)
    assert store.finish(running, result) is False
    assert in_memory.to_json() == result.to_json()
    assert files_of(tmp_path) == []
    for act in (store.load, store.delete, lambda name: store.rename(name, "x")):
        with refused("ID"):
            act(opened)


def test_damaged_and_missing_files_are_told(store, base, tmp_path):
    result = carry_out(base)
    identity = store.begin(result.spec, base)
    store.finish(identity, result)
    path = next(path for path in files_of(tmp_path) if path.read_bytes().startswith(b"{\n"))
    path.write_bytes(path.read_bytes().replace(b"0.", b"1.", 1))
    with pytest.raises(RunFailed, match=r"results\.json"):
        store.load(identity)
    path.unlink()
    with pytest.raises(RunFailed, match=r"people\.csv"):
        store.load(identity)


_CRASH = """
import os, sys
from pathlib import Path
from audits.runs.storage.saved import SavedRuns
spec = {"audits": [{"rates": {}}], "data": {"path": "people.csv"}}
print(SavedRuns().begin(spec, Path(sys.argv[1])), flush=True)
os._exit(9)
"""


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_a_crash_shows_as_interrupted_and_the_run_can_start_again(store, base):
    identity = python(_CRASH, str(base)).stdout.strip()
    mine = store.begin(make_spec(), base)
    assert store.get(identity).status == "interrupted"
    assert store.get(mine).status == "running"
    assert store.begin_again(identity).status == "running"
    store.finish(identity, carry_out(base))
    assert store.get(identity).status == "done"
    with refused("the saved audit"):
        store.begin_again(identity)


_MANY = """
import sys
from pathlib import Path
from audits.runs.storage.saved import SavedRuns
store = SavedRuns()
for place in range(8):
    name = store.begin({"audits": [], "data": {"path": "x"}}, Path("."), title=f"{sys.argv[1]} {place}")
    store.annotate(name, str(place))
    store.end(name, "cancelled")
"""


@BOTH
def test_two_processes_at_once_lose_nothing(store):
    """The home is fresh: both processes also make and migrate the database at the same time."""
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda who: python(_MANY, who), "ab"))
    assert [answer.stderr for answer in answers] == ["", ""]
    titles = {run.title for run in store.list(status="cancelled")}
    assert titles == {f"{who} {place}" for who in "ab" for place in range(8)}


@BOTH
def test_a_newer_schema_is_refused_and_an_older_one_brought_up(store):
    engine = store._database.engine
    with engine.begin() as connection:
        connection.execute(sa.text(f"INSERT INTO schema_version VALUES ({len(MIGRATIONS) + 1})"))
    with refused("the database", len(MIGRATIONS) + 1):
        Database(engine.url.render_as_string(hide_password=False))
    with engine.begin() as connection:
        made_of_others_first = sa.inspect(connection).get_sorted_table_and_fkc_names()[::-1]
        for table in [name for name, _ in made_of_others_first if name]:
            connection.execute(sa.text(f"DROP TABLE {table}"))
    again = Database(engine.url.render_as_string(hide_password=False))
    with again.reading() as connection:
        versions = connection.execute(sa.text("SELECT version FROM schema_version")).scalars().all()
    assert sorted(versions) == list(range(1, len(MIGRATIONS) + 1))


@pytest.mark.parametrize(
    "url",
    ["nonsense", "mysql://host/name", "sqlite:////absent/folder/x.sqlite", "postgresql://127.0.0.1:1/none"],
)
def test_a_wrong_address_is_one_sentence(url, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATABASE_URL", url)
    with refused("EVENHAND_DATABASE_URL") as caught:
        database()
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_database_is_told(tmp_path):
    (tmp_path / "evenhand.sqlite").write_bytes(b"not a database" * 100)
    with refused("EVENHAND_DATABASE_URL", "is not a database"):
        database(tmp_path)


def test_compare_names_what_changed_and_nothing_else(base):
    spec = make_spec({"groups": {"by": ["group"]}})
    before = InlineExecutor().submit(spec, base).result()
    assert compare_runs(before, before) == []
    after = InlineExecutor().submit(spec | {"threshold": 0.6}, base).result()
    changes = {(change.part, change.where): change for change in compare_runs(before, after)}
    matters = before_and_after(before, after)[["before", "after"]].to_numpy().tolist()
    assert [before.audits[0].headline, after.audits[0].headline] in matters
    rates = [{row.group: row for row in result.audits[0].result.table} for result in (before, after)]
    change = changes["groups", "table[group: south].selection_rate"]
    was, now = (side["south"].selection_rate for side in rates)
    assert (change.before, change.after) == (was.value, now.value)
    assert (change.low_before, change.high_before) == (was.low, was.high)
    assert change.overlap is (max(was.low, now.low) <= min(was.high, now.high))
    assert not any(part == "data" for part, _ in changes)
    assert len(comparison_frame(list(changes.values()))) == len(changes)
