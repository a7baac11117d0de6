"""Tables that want more than they show: what reads them ends at its limit, and nobody else notices."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest

from app.tables.client import Readers
from audits.data import read_table
from audits.data.io import sheets
from audits.errors import InputError
from audits.runs.executors import sandbox
from tests.refused import refused
from tests.security.corpus import TABLES, write

_SECONDS = 15
_MEMORY_MB = 980


@pytest.fixture(scope="module")
def readers():
    patch = pytest.MonkeyPatch()
    patch.setenv("EVENHAND_READ_MEMORY_MB", str(_MEMORY_MB))
    patch.setenv("EVENHAND_READ_SECONDS", str(_SECONDS))
    patch.setenv("EVENHAND_DATABASE_URL", "sqlite:////nowhere/secret")
    found = Readers()
    assert found.wait_warm(60)
    yield found
    found.close()
    patch.undo()


def ask(readers: Readers, path: Path, owner: str = "somebody") -> dict:
    section = {"path": path.name}
    question = {"section": section, "paths": [str(path)], "table key": str(path), "data key": str(path)}
    return readers.ask(
        owner, {"ask": "table", **question}, reads=[path.parent], what=path.name, size=path.stat().st_size
    )


@pytest.mark.parametrize("name", list(TABLES))
def test_a_file_that_wants_more_than_it_shows_ends_with_a_sentence(readers, tmp_path, name):
    make, told = TABLES[name]
    path = write(tmp_path, name, make)
    before = sandbox.resident_memory(os.getpid())
    if told is not None:
        with pytest.raises(InputError) as found:
            ask(readers, path, tmp_path.name)
        assert str(found.value).startswith(name)
        assert all(each in str(found.value) for each in told), str(found.value)
    else:  # nothing but letters: read as such, never run
        with contextlib.suppress(InputError):
            ask(readers, path, tmp_path.name)
        assert not Path("/tmp/evenhand-was-here").exists()
    assert sandbox.resident_memory(os.getpid()) - before < 60 << 20, "the web process holds nothing of it"
    good = tmp_path / "good.csv"
    good.write_text("sex,score\n" + "f,1\nm,2\n" * 30)
    assert ask(readers, good, tmp_path.name)["shape"] == [60, 2]
    if told == ():  # its reader was ended at a limit
        assert ask(readers, good, f"{tmp_path.name} too")["shape"] == [60, 2]


def test_a_cell_as_long_as_a_book_is_shown_by_its_beginning_and_names_no_group(readers, tmp_path):
    path = tmp_path / "stories.csv"
    path.write_text("sex,story\n" + f"f,{'x' * 300_000}\nm,{'y' * 300_000}\n" * 30)
    told = ask(readers, path, "reader")
    assert told["shape"] == [60, 2]
    assert len(json.dumps(told)) < 200_000  # of 50 rows a thousand letters each, packed as text
    assert [len(each["values"]) for each in told["profiles"]] == [2, 0]
    section = {"path": path.name, "protected": ["story"]}
    question = {"section": section, "paths": [str(path)], "table key": str(path), "data key": "stories"}
    with refused("data.protected", "1,000", "'story'", "300,000"):
        readers.ask(
            "reader", {"ask": "data", **question}, reads=[tmp_path], what=path.name, size=path.stat().st_size
        )


def test_another_users_process_lives_on(readers, tmp_path):
    good = tmp_path / "good.csv"
    good.write_text("sex,score\n" + "f,1\nm,2\n" * 30)
    ask(readers, good, "quiet")
    child = readers._holders["quiet"].child
    bad = write(tmp_path, "below.parquet", TABLES["below.parquet"][0])
    with refused("below.parquet"):
        ask(readers, bad, "loud")
    assert child.alive
    assert readers._holders["quiet"].child is child


def probe(question):
    """Try what a process that reads must not be able to do; tell what came of it."""
    tried = {
        "network": lambda: socket.socket(),
        "passwords": lambda: Path("/etc/passwd").read_text(),
        "neighbour": lambda: Path(question["neighbour"]).read_text(),
        "write": lambda: Path(question["own"]).write_text("x"),
        "signal": lambda: os.kill(os.getppid(), 0),
        "program": lambda: os.execv("/bin/true", ["true"]),
        "memory": lambda: bytearray(2 << 30),
    }
    told = {"own": Path(question["own"]).read_text(), "environment": sorted(os.environ)}
    for name, attempt in tried.items():
        try:
            attempt()
            told[name] = "done"
        except (OSError, MemoryError) as error:
            told[name] = type(error).__name__
    return told


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="only Linux keeps a process from all of this")
def test_a_process_that_reads_can_do_nothing_else(tmp_path, monkeypatch):
    from audits.runs.executors.sandbox_pool import SandboxPool

    monkeypatch.setenv("EVENHAND_DATABASE_URL", "postgresql://secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    own, neighbour = tmp_path / "own", tmp_path / "neighbour"
    for folder in (own, neighbour):
        folder.mkdir()
        (folder / "table.csv").write_text("a,b\n1,2\n")
    pool = SandboxPool("tests.security.test_tables:probe")
    try:
        child = pool.child(memory=600 << 20, reads=[own])
        told = child.ask({"own": str(own / "table.csv"), "neighbour": str(neighbour / "table.csv")}, 30)
    finally:
        pool.close()
    assert told["own"] == "a,b\n1,2\n"
    for name in ("network", "passwords", "neighbour", "write", "signal", "program"):
        assert told[name] == "PermissionError", name
    assert told["memory"] == "MemoryError"
    assert not any("DATABASE" in name or "SECRET" in name for name in told["environment"])


def test_where_the_kernel_filters_nothing_python_opens_no_sockets(monkeypatch):
    monkeypatch.setattr(socket, "socket", socket.socket)
    sandbox._forget_sockets()
    with pytest.raises(PermissionError):
        socket.create_connection(("127.0.0.1", 9))


def test_what_forks_ends_by_itself_where_its_server_has_gone_before_it_was_ready():
    """A socket of datagrams tells no end: who is gone is seen by whose child it is."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    with ours, theirs:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "audits.runs.executors.fork_server", "app.tables.server:answer"),
                *(str(theirs.fileno()), gone.stdout.decode().strip()),
            ],
            pass_fds=[theirs.fileno()],
            timeout=60,
            check=False,
        )
    assert done.returncode == 0


@pytest.mark.parametrize("chunk", [600, 997])
def test_rows_that_follow_each_other_are_read_wherever_a_part_is_cut(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(sheets, "_CHUNK", chunk)
    book = openpyxl.Workbook()
    for row in range(3000):
        book.active.append(["a", "b"] if not row else [row, row % 7])
    book.create_sheet("second").append([1])
    book.save(tmp_path / "people.xlsx")
    assert len(read_table([tmp_path / "people.xlsx"]).frame) == 2999
