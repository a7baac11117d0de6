"""Tables that want more than they show: what reads them ends at its limit, and nobody else notices."""

from __future__ import annotations

import contextlib
import json
import os
import socket
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


@pytest.fixture(scope="module")
def readers():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_READ_MEMORY_MB", "980")
        patch.setenv("EVENHAND_READ_SECONDS", "15")
        found = Readers()
        assert found.wait_warm(60)
        yield found
        found.close()


def ask(readers: Readers, path: Path, owner: str, kind: str = "table", **section: object) -> dict:
    question = {"section": {"path": path.name, **section}, "paths": [str(path)], "table key": str(path)}
    asked = {"ask": kind, "data key": str(path), **question}
    return readers.ask(owner, asked, reads=[path.parent], what=path.name, size=path.stat().st_size)


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
    with refused("data.protected", "1,000", "'story'", "300,000"):
        ask(readers, path, "reader", "data", protected=["story"])


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


def test_where_the_kernel_filters_nothing_python_opens_no_sockets(monkeypatch):
    monkeypatch.setattr(socket, "socket", socket.socket)
    sandbox._forget_sockets()
    with pytest.raises(PermissionError):
        socket.create_connection(("127.0.0.1", 9))


def test_rows_that_follow_each_other_are_read_wherever_a_part_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "_CHUNK", 997)
    book = openpyxl.Workbook()
    for row in range(1000):
        book.active.append(["a", "b"] if not row else [row, row % 7])
    book.create_sheet("second").append([1])
    book.save(tmp_path / "people.xlsx")
    assert len(read_table([tmp_path / "people.xlsx"]).frame) == 999
