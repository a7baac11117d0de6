"""Copies and back again, schemas of before, and one person taken out of everything."""

from __future__ import annotations

import gzip
import io
import re
import tarfile

import pandas as pd
import pytest
import sqlalchemy as sa

from app.workspaces.workspace import Workspace, new_token
from audits.cli.main import main
from audits.errors import InputError
from audits.runs.executors.inline import InlineExecutor
from audits.runs.storage import database as module
from audits.runs.storage.audit_log import AuditLog
from audits.runs.storage.backup import backup, restore
from audits.runs.storage.database import Database, database_url
from audits.runs.storage.erasure import erase_person
from audits.runs.storage.saved import SavedRuns
from audits.runs.storage.schema import MIGRATIONS
from audits.runs.storage.store import RunStore
from tests.refused import refused
from tests.runs.postgres import serve
from tests.security.test_gone import holding

_PERSON = "Quintilian-4711"


def _people(n: int = 60) -> pd.DataFrame:
    ids = [_PERSON if k in {7, 31} else f"p{k}" for k in range(n)]
    rows = [("fm"[k % 2], k % 7, int(k % 7 > 3)) for k in range(n)]
    return pd.DataFrame(rows, columns=["sex", "skill", "hired"]).assign(person=ids)


def _spec(path: str) -> dict:
    features = {"features": ["skill"], "person": "person"}
    data = {"path": path, "label": "hired", "favorable": 1, "protected": ["sex"], **features}
    return {"data": data, "model": {"predictions": {"label": "hired"}}, "audits": [{"groups": {}}], "seed": 0}


@pytest.fixture
def full(tmp_path, monkeypatch):
    """A home with an upload, a draft and a finished saved audit of it."""
    base = tmp_path / "home"
    monkeypatch.setenv("EVENHAND_HOME", str(base))
    space = Workspace(new_token(), base)
    path = str(space.add_file("people.csv", io.BytesIO(_people().to_csv(index=False).encode())))
    space.save_draft({"id": "a", "source": {}, "spec": _spec(path)})
    run = InlineExecutor().submit(_spec(path), space.folder, space.token)
    assert run.status == "done", run.error
    saved = SavedRuns(base)
    identity = saved.begin(_spec(path), space.folder, owner=space.token, key=run.key)
    saved.finish(identity, run.result())
    return base, space, identity


def test_what_was_copied_is_there_again_and_what_ran_meanwhile_is_interrupted(full, tmp_path, monkeypatch):
    """Unless its result was there already."""
    base, space, identity = full
    saved, before = SavedRuns(base), SavedRuns(base).load(identity).to_json()
    done = saved.get(identity)
    folder = RunStore(base).folder(done.key, space.token)
    folder.mkdir(parents=True)
    saved.load(identity).save(folder)
    known = saved.begin(done.spec, space.folder, owner=space.token, key=done.key)
    unknown = saved.begin(done.spec, space.folder, owner=space.token, key="0" * 64)
    copy = tmp_path / "copy.tar.gz"
    assert main(["backup", str(copy)]) == 0
    assert copy.stat().st_mode & 0o077 == 0
    assert main(["backup", str(copy)]) == 2, "a copy is never overwritten"
    assert main(["restore", str(copy)]) == 2, "nor a home that holds something"
    assert saved.get(unknown).status == "running", "where it was copied from it goes on"
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "new"))
    assert main(["restore", str(copy)]) == 0
    again = SavedRuns(tmp_path / "new")  # though the process that began them goes on, here and now
    assert again.load(identity).to_json() == again.load(known).to_json() == before
    assert [again.get(name).status for name in (known, unknown)] == ["done", "interrupted"]
    assert Workspace(space.token, tmp_path / "new").draft() == space.draft()
    assert [entry["act"] for entry in AuditLog(tmp_path / "new").entries()][-1] == "restored"
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0


def test_a_copy_of_sqlite_is_laid_out_in_postgresql(full, tmp_path, monkeypatch):
    base, _, identity = full
    copied = backup(tmp_path / "copy.tar.gz", base)
    with serve() as url:
        monkeypatch.setenv("EVENHAND_DATABASE_URL", url)
        try:
            assert restore(tmp_path / "copy.tar.gz", tmp_path / "new").rows == copied.rows >= 2
            assert SavedRuns(tmp_path / "new").load(identity).audits[0].name == "groups"
            with refused("the database"):
                restore(tmp_path / "copy.tar.gz", tmp_path / "other")
        finally:
            module._cached_database.cache_clear()


def test_a_damaged_copy_lays_out_nothing(full, tmp_path):
    base, _, _ = full
    whole = tmp_path / "copy.tar.gz"
    backup(whole, base)
    content = whole.read_bytes()
    unpacked = gzip.decompress(content)
    place = unpacked.index(b"Quintilian")
    changed = gzip.compress(unpacked[:place] + b"X" + unpacked[place + 1 :])
    escaping = io.BytesIO()
    with tarfile.open(fileobj=escaping, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../../outside.txt"), io.BytesIO())
    damaged = {"cut": content[:-2000], "changed": changed, "out": escaping.getvalue(), "text": b"no copy"}
    for name, each in damaged.items():
        (tmp_path / name).write_bytes(each)
        with pytest.raises(InputError):
            restore(tmp_path / name, tmp_path / f"new-{name}")
        assert not list((tmp_path / f"new-{name}").iterdir())
    assert not (tmp_path / "outside.txt").exists()


@pytest.mark.parametrize("version", [1, len(MIGRATIONS) - 1])
def test_a_database_of_before_is_brought_up_with_a_copy(version, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    url = database_url(tmp_path)
    old = sa.create_engine(url)
    with old.begin() as connection:  # as Evenhand 0.1.0 made it
        connection.exec_driver_sql("CREATE TABLE schema_version (version INTEGER PRIMARY KEY)")
        for number, statements in enumerate(MIGRATIONS[:version], start=1):
            for statement in statements:
                connection.exec_driver_sql(statement)
            connection.exec_driver_sql(f"INSERT INTO schema_version VALUES ({number})")
        connection.exec_driver_sql(
            "INSERT INTO saved_runs VALUES "
            "('a', 'k', 'Old', '', 'done', '', '{}', '', 1, 2, 'h 1 2', '', '', '')"
        )
    old.dispose()
    (run,) = SavedRuns(tmp_path).list()
    assert run.title == "Old"
    with Database(url).reading() as connection:
        found = connection.exec_driver_sql("SELECT version FROM schema_version ORDER BY version").scalars()
        assert list(found) == list(range(1, len(MIGRATIONS) + 1))
    (copy,) = (tmp_path / "backups").iterdir()
    assert restore(copy, tmp_path / "again").rows == 1
    assert SavedRuns(tmp_path / "again").list()[0].title == "Old"


def test_a_change_of_schema_that_fails_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    url = database_url(tmp_path)
    Database(url).engine.dispose()
    wrong = (*MIGRATIONS, ("CREATE TABLE half (a INTEGER)", "CREATE TABLE nonsense ("))
    monkeypatch.setattr(module, "MIGRATIONS", wrong)
    with refused("EVENHAND_DATABASE_URL"):
        Database(url)
    monkeypatch.setattr(module, "MIGRATIONS", MIGRATIONS)
    with Database(url).reading() as connection:
        assert "half" not in sa.inspect(connection).get_table_names()


def test_one_person_is_taken_out_of_everything(full, capsys):
    base, space, identity = full
    frame = _people()
    packed = gzip.compress(frame.to_csv(index=False, sep=";").encode())
    lines = frame.to_json(orient="records", lines=True).encode()
    parquet, sheet = io.BytesIO(), io.BytesIO()
    frame.to_parquet(parquet)
    frame.to_excel(sheet, index=False)
    written = {"parquet": parquet.getvalue(), "jsonl": lines, "csv.gz": packed, "xlsx": sheet.getvalue()}
    files = {
        ending: space.folder / space.add_file(f"people.{ending}", io.BytesIO(content))
        for ending, content in written.items()
    }
    other = ("name,n\n" + f"{_PERSON},1\nbob,2\n" * 20).encode()
    assert main(["erase", "--person", _PERSON, "--look"]) == 0
    assert "10" in capsys.readouterr().out
    assert SavedRuns(base).get(identity)
    assert main(["erase", "--person", _PERSON]) == 0
    told = re.findall(r"\b\d+\b", capsys.readouterr().out)
    assert told[:3] == ["10", "5", "1"], "rows, files, saved audits"
    assert not holding(base, _PERSON)
    assert not SavedRuns(base).list()
    left = pd.read_csv(space.folder / space.draft()["spec"]["data"]["path"])
    pd.testing.assert_frame_equal(left, frame[frame.person != _PERSON].reset_index(drop=True))
    for read in (
        pd.read_parquet(files["parquet"]),
        pd.read_csv(files["csv.gz"], sep=";"),
        pd.read_json(files["jsonl"], lines=True),
        pd.read_excel(files["xlsx"]),
    ):
        assert read.to_numpy().tolist() == left.to_numpy().tolist()
    assert list(AuditLog(base).entries())[-1]["act"] == "erased"
    path = space.add_file("a.csv", io.BytesIO(other))
    erased = erase_person(_PERSON, base=base)
    assert erased.elsewhere == {f"workspaces/{space.token}/{path}": ["name"]}, "of another column it is told"
    assert not erased.files
    assert list(erase_person(_PERSON, column="name", base=base).files.values()) == [20]
