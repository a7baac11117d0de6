"""Workspaces: names that stay inside, files in chunks, nothing shared."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.workspaces import workspace
from app.workspaces.workspace import Workspace, is_token, new_token, safe_name, workspaces_of
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


@pytest.mark.parametrize("text", [None, "", "abc", "../" + "a" * 29, "A" * 32, "g" * 32, "a" * 33])
def test_what_is_no_token_opens_nothing(text: str | None) -> None:
    assert not is_token(text)
    with refused("workspace", "32"):
        Workspace(str(text))


@settings(max_examples=30)
@given(st.text(max_size=300))
def test_a_sanitised_name_stays_in_its_folder(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert safe not in {".", ".."}
    assert Path(safe).name == safe
    assert "\0" not in safe
    assert len(safe.encode()) <= 160


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\people.csv", "people.csv"),
        ("adult.data.gz", "adult.data.gz"),
        (".hidden", "hidden"),
        ("a/b/../c<script>.csv", "c_script_.csv"),
        ("odd $x$ <b> 😀.csv", "odd $x$ _b_ 😀.csv"),
        ("", "file"),
        ("x" * 300 + ".parquet", "x" * 92 + ".parquet"),
    ],
)
def test_names_keep_their_ending(given_name: str, kept: str) -> None:
    assert safe_name(given_name) == kept


def test_a_file_is_kept_under_the_digest_of_its_bytes(tmp_path: Path) -> None:
    space = Workspace(new_token(), tmp_path)
    first = space.add_file("people.csv", io.BytesIO(b"a\n1\n"))
    other = space.add_file("people.csv", io.BytesIO(b"a\n2\n"))
    again = space.add_file("../people.csv", io.BytesIO(b"a\n1\n"))
    assert first == again != other
    assert (space.folder / first).read_bytes() == b"a\n1\n"
    assert not list(space.folder.rglob("*.partial"))


def test_an_empty_file_and_one_too_large_are_refused_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = Workspace(new_token(), tmp_path)
    with refused("people.csv"):
        space.add_file("people.csv", io.BytesIO(b""))
    monkeypatch.setattr(workspace, "MAX_FILE_MB", 1)
    with refused("people.csv"):
        space.add_file("people.csv", io.BytesIO(b"x" * 1_000_001))
    assert not [path for path in space.folder.rglob("*") if path.is_file()]


def test_a_full_workspace_takes_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = Workspace(new_token(), tmp_path)
    monkeypatch.setenv("EVENHAND_DISK_MB", "1")
    space.add_file("a.csv", io.BytesIO(b"1" * 600_000))
    with refused("workspace"):
        space.add_file("b.csv", io.BytesIO(b"2" * 600_000))


def test_runs_are_kept_latest_first_once_each_and_bounded(tmp_path: Path) -> None:
    space = Workspace(new_token(), tmp_path)
    for place in range(40):
        space.note_run({"id": str(place), "key": f"k{place}", "spec": {}})
    space.note_run({"id": "again", "key": "k39", "spec": {}})
    runs = space.runs()
    assert runs[0] == {"id": "again", "key": "k39", "spec": {}}
    assert [run["key"] for run in runs] == [f"k{place}" for place in range(39, 9, -1)]


def test_a_draft_cut_short_by_a_crash_counts_as_none(tmp_path: Path) -> None:
    space = Workspace(new_token(), tmp_path)
    space.save_draft({"spec": {}})
    (space.folder / "draft.json").write_text('{"spec": ')
    assert space.draft() is None


def test_a_home_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "workspaces").write_text("a file where the folder should be")
    with refused("EVENHAND_HOME"):
        Workspace(new_token(), tmp_path).save_draft({})
