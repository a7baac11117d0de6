"""Workspaces: names that stay inside, files in chunks, nothing shared."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.workspaces import workspace
from app.workspaces.workspace import Workspace, new_token, safe_name, workspaces_of
from tests.refused import refused


def test_what_two_tabs_note_at_once_is_all_kept(tmp_path: Path) -> None:
    token = new_token()

    def note(place: int) -> None:
        space = Workspace(token, tmp_path)
        space.note_run({"key": f"run {place}"})
        space.note_run({"key": f"cancelled {place}"})
        space.forget_run(f"cancelled {place}")

    mine = [Workspace(new_token(), tmp_path, person="ada") for _ in range(12)]
    with ThreadPoolExecutor(12) as tabs:
        list(tabs.map(note, range(12)))
        list(tabs.map(lambda space: space.save_draft({}), mine))
    assert {run["key"] for run in Workspace(token, tmp_path).runs()} == {
        f"run {place}" for place in range(12)
    }
    assert set(workspaces_of("ada", tmp_path)) == {space.token for space in mine}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\people.csv", "people.csv"),
        ("adult.data.gz", "adult.data.gz"),
        (".hidden", "hidden"),
        ("..", "file"),
        ("a\0b", "a_b"),
        ("a/b/../c<script>.csv", "c_script_.csv"),
        ("odd $x$ <b> 😀.csv", "odd $x$ _b_ 😀.csv"),
        ("", "file"),
        ("x" * 300 + ".parquet", "x" * 92 + ".parquet"),
    ],
)
def test_names_stay_in_their_folder_and_keep_their_ending(given: str, kept: str) -> None:
    assert safe_name(given) == kept
    assert len(safe_name("😀" * 300).encode()) <= 160


@pytest.mark.parametrize("text", ["", "../" + "a" * 29, "A" * 32, "g" * 32, "a" * 33])
def test_what_is_no_token_opens_nothing(text: str) -> None:
    with refused("workspace", "32"):
        Workspace(text)


def test_a_file_is_kept_under_the_digest_of_its_bytes_and_half_a_draft_is_none(tmp_path: Path) -> None:
    space = Workspace(new_token(), tmp_path)
    contents, names = (b"a\n1\n", b"a\n2\n", b"a\n1\n"), ("people.csv", "people.csv", "../people.csv")
    first, other, again = (space.add_file(n, io.BytesIO(c)) for n, c in zip(names, contents, strict=True))
    assert first == again != other
    assert (space.folder / first).read_bytes() == b"a\n1\n"
    assert not list(space.folder.rglob("*.partial"))
    space.save_draft({"spec": {}})
    (space.folder / "draft.json").write_text('{"spec": ')
    assert space.draft() is None, "a crash cut it short"


def test_an_empty_file_and_one_too_large_are_refused_and_leave_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(workspace, "MAX_FILE_MB", 1)
    space = Workspace(new_token(), tmp_path)
    for content in (b"", b"x" * 1_000_001):
        with refused("people.csv"):
            space.add_file("people.csv", io.BytesIO(content))
    assert not [path for path in space.folder.rglob("*") if path.is_file()]


def test_runs_are_kept_latest_first_once_each_and_bounded(tmp_path: Path) -> None:
    space = Workspace(new_token(), tmp_path)
    for place in range(40):
        space.note_run({"id": str(place), "key": f"k{place}", "spec": {}})
    space.note_run({"id": "again", "key": "k39", "spec": {}})
    runs = space.runs()
    assert runs[0] == {"id": "again", "key": "k39", "spec": {}}
    assert [run["key"] for run in runs] == [f"k{place}" for place in range(39, 9, -1)]
