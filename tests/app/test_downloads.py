"""Files that are taken away: made by another process, kept on the disk, and served from there in parts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from app import jobs
from app.drafts import drafts
from app.serving import downloads
from app.serving.downloads import DOWNLOADS, Downloads
from app.tables import exports
from app.tables.listed import Order, PeopleTable, raw_cells
from app.widgets.people.row_choice import _file
from app.widgets.results.export import report_file
from app.workspaces.workspace import Workspace, issue_token
from audits.runs.storage.saved import SavedRuns


@pytest.fixture(scope="module")
def space(serve_pages) -> Iterator[Workspace]:
    """Return a workspace for all tests here: its run is carried out once."""
    with pytest.MonkeyPatch.context() as patch:
        serve_pages(patch)
        yield Workspace(issue_token())


@pytest.fixture(scope="module")
def run(space):
    """Return a finished comparison of groups, and the data that it is of."""
    rows = "".join(f"{'ab'[k % 2]},=1+{k % 5},{k % 7 / 10},{int(k % 3 == 0)}\n" for k in range(300))
    path = space.add_file("people.csv", io.BytesIO(f"kind,note,given,hired\n{rows}".encode()))
    draft = drafts.with_data(
        drafts.from_files([path], "upload"), label="hired", favorable=1, protected=["kind"], features=["note"]
    )
    flips = {"source": {"kind": "a"}, "target": {"kind": "b"}, "permutations": 0}
    audits = [{"groups": {}}, {"flipset": flips}]
    spec = {**draft["spec"], "model": {"predictions": {"score": "given"}}, "audits": audits}
    done = jobs.submit(space, spec, "people")
    assert done.wait(120)
    assert done.status == "done", done.error
    data, _ = jobs.data(space, spec).result(60)
    return jobs.result(space, spec), data


def _taken(ticket: bytes) -> bytes:
    path = DOWNLOADS.path(ticket)
    assert path is not None
    return path.read_bytes()


def test_another_process_writes_the_people_that_this_one_would(space, run, monkeypatch) -> None:
    monkeypatch.setattr(exports, "_TOGETHER", 40)  # in parts here, at once there: one header
    found, data = run
    people, beside = PeopleTable(found, "people"), raw_cells(data, found.audits[0].result.people.columns)
    order, only = Order("score", falling=True), found.audits[0].result.people.index[5:90]
    for picked in (None, only):
        ticket = _file(space, people, picked, order, beside)
        here = b"".join(exports.people_parts(people, picked, order, beside))
        assert _taken(ticket) == here
    read = pd.read_csv(io.BytesIO(here))
    assert len(read) == 85
    assert set(read["note"].str[:2]) == {"'="}, "no spreadsheet runs it"
    rows = pd.Index([7, 3, *range(100, 200)])
    read = pd.read_csv(io.BytesIO(_taken(jobs.export_people(space, data, rows))), index_col="row")
    assert read.index.tolist() == rows.tolist()
    assert read["given"].tolist() == [(k - 1) % 7 / 10 for k in rows], "rows count from 1"


def test_tables_and_reports_are_whole_for_fresh_and_for_saved_runs(space, run) -> None:
    fresh, _ = run
    kept = next(each for each in SavedRuns().list(owner=space.token))
    for found in (fresh, jobs.saved_result(space, kept.id)):
        assert found.folder is not None
        assert found.folder.is_dir()
        with zipfile.ZipFile(io.BytesIO(_taken(jobs.export(space, found, "tables")))) as archive:
            assert archive.testzip() is None
            names = {f"{name}.csv" for name in found.tables}
            assert set(archive.namelist()) == names
            people = pd.read_csv(io.BytesIO(archive.read("groups-people.csv")))
        assert len(people) == len(found.audits[0].result.people)
        assert b"people.csv" in _taken(report_file(space, found, "html"))


def test_of_one_workspace_the_last_four_wait_for_their_time_and_none_after_it_is_erased(space, monkeypatch):
    def offered() -> tuple[bytes, Path]:
        with DOWNLOADS.writing(space.token) as into:
            into.write(b"x")
        return DOWNLOADS.offer(Path(into.name), space.token), Path(into.name)

    files = [offered() for _ in range(5)]
    assert [DOWNLOADS.path(ticket) is not None for ticket, _ in files] == [False] + [True] * 4
    jobs.forget(space)
    assert not [path for _, path in files if path.exists()]
    assert DOWNLOADS.path(files[-1][0]) is None
    ticket, path = offered()
    late = downloads.time.monotonic() + downloads._SECONDS + 1
    monkeypatch.setattr(downloads.time, "monotonic", lambda: late)
    assert DOWNLOADS.path(ticket) is None
    DOWNLOADS.tidy()
    assert not path.exists()


def test_a_ticket_is_answered_with_its_file_whole_and_in_parts(space) -> None:
    with DOWNLOADS.writing(space.token) as into:
        into.write(b"0123456789" * 30_000)
    answers = [DOWNLOADS.offer(Path(into.name), space.token)]

    async def media(_) -> Response:
        head = {"Content-Disposition": 'attachment; filename="people.csv"', "Accept-Ranges": "bytes"}
        return Response(answers[-1], media_type="text/csv", headers=head)

    client = TestClient(Downloads(Starlette(routes=[Route("/media/{name}", media), Route("/{name}", media)])))
    whole = client.get("/media/a.csv")
    assert whole.content == b"0123456789" * 30_000
    assert whole.headers["content-disposition"] == 'attachment; filename="people.csv"'
    assert whole.headers["content-type"].startswith("text/csv")
    part = client.get("/media/a.csv", headers={"Range": "bytes=10-13"})
    assert (part.status_code, part.content) == (206, b"0123")
    assert client.head("/media/a.csv").headers["content-length"] == "300000"
    assert client.get("/other").content == answers[0], "a ticket means something among downloads alone"
    DOWNLOADS.forget(space.token)
    assert client.get("/media/a.csv").content == answers[0], "what is gone is not served"
    for no_ticket in (b"", b"evenhand-file-" + b"0" * 32):
        answers.append(no_ticket)
        assert client.get("/media/a.csv").content == no_ticket
