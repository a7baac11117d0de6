"""Faults, injected: a database that is away, servers that are killed, hosts renamed, clocks that jump."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import time

import pytest

from app.serving import api
from app.serving.ingestion import Ingest
from app.serving.maintenance import Maintenance
from app.workspaces.workspace import Workspace, new_token
from audits.errors import RunFailed
from audits.runs.executors import process_lock as processes
from audits.runs.executors.inline import InlineExecutor
from audits.runs.storage import database as databases
from audits.runs.storage import saved as module
from audits.runs.storage.saved import SavedRuns, keep_run
from audits.runs.storage.store import RunStore
from tests.refused import refused
from tests.runs.postgres import Postgres


def spec_beside(folder) -> dict:
    rows = "".join(f"{'fm'[k % 2]},{k % 7},{int(k % 7 > 3)}\n" for k in range(80))
    (folder / "people.csv").write_text("sex,skill,hired\n" + rows)
    read = {"path": "people.csv", "features": ["skill"]}
    data = {**read, "label": "hired", "favorable": 1, "protected": ["sex"]}
    return {"data": data, "model": {"predictions": {"label": "hired"}}, "seed": 0, "audits": [{"groups": {}}]}


def until(condition, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def postgres(monkeypatch):
    """A server that a test stops and starts."""
    server = Postgres()
    server.start()
    monkeypatch.setenv("EVENHAND_DATABASE_URL", server.url)
    monkeypatch.setattr(module, "_WAITS", (0.1,))
    databases._cached_database.cache_clear()
    yield server
    with contextlib.suppress(subprocess.CalledProcessError):
        server.stop()
    server.remove()
    databases._cached_database.cache_clear()


def test_runs_asked_for_during_an_outage_are_in_the_list_afterwards(postgres, tmp_path):
    spec, base = spec_beside(tmp_path), tmp_path / "home"
    kept = SavedRuns(base)
    assert not kept.list()
    postgres.stop()
    runs = [InlineExecutor().submit(spec | {"seed": seed}, tmp_path, "ada") for seed in range(2)]
    keep_run(runs[0], spec, tmp_path, title="known before", owner="ada", base=base)
    databases._cached_database.cache_clear()  # a server that began while the database was away
    keep_run(runs[1], spec, tmp_path, title="begun meanwhile", owner="ada", base=base)
    with pytest.raises(RunFailed):
        kept.list()
    assert len(list((base / "pending").glob("*.json"))) == 2
    postgres.start()
    until(lambda: [run.status for run in SavedRuns(base).list(owner="ada")] == ["done", "done"])
    assert {run.title for run in kept.list()} == {"known before", "begun meanwhile"}
    assert all(kept.load(run.id).audits for run in kept.list())
    assert not list((base / "pending").iterdir())


def test_a_full_disk_is_a_sentence(tmp_path, monkeypatch):
    space = Workspace(new_token(), tmp_path)
    space.save_draft({"spec": 1})

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(type(tmp_path), "write_text", full)
    with refused("the choice", "No space left"):
        space.save_draft({"spec": 2})
    monkeypatch.setattr(type(tmp_path), "replace", full)
    with refused("a.csv", "No space left"):
        space.add_file("a.csv", io.BytesIO(b"a\n1\n"))
    monkeypatch.undo()
    assert space.draft() == {"spec": 1}
    assert not list(space.folder.rglob("*.partial"))


def test_readiness_is_another_question_than_health(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "home"))
    databases._cached_database.cache_clear()
    assert api.faults().keys() >= {"monitors", "maintenance"}, "nothing was started with the server"
    assert not {"database", "home"} & api.faults().keys()
    started = Ingest(), Maintenance()
    monkeypatch.setattr(api.monitor_api, "INGEST", started[0])
    monkeypatch.setattr(api, "MAINTENANCE", started[1])
    for each in started:
        each.start()
    assert not {"monitors", "maintenance"} & api.faults().keys()
    for each in started:
        each.close()
    monkeypatch.setenv("EVENHAND_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert api.faults()["database"]
    assert "127.0.0.1" not in str(api.faults())
    shutil.rmtree(tmp_path / "home")
    (tmp_path / "home").write_text("a file where the folder should be")
    assert "home" in api.faults()


_KEEPS = """
import json, sys
from pathlib import Path
from audits.runs.executors.inline import InlineExecutor
from audits.runs.storage.saved import SavedRuns, keep_run
spec, folder, base, key, seeds = json.loads(sys.argv[1])
sys.stdin.readline()
kept = SavedRuns(Path(base))
for seed in seeds:
    one = spec | {"seed": seed}
    run = InlineExecutor().submit(one, Path(folder), "ada")
    keep_run(run, one, Path(folder), title=str(seed), owner="ada", base=Path(base))
kept.begin(spec, Path(folder), owner="ada", title="goes on")
print(kept.begin(spec, Path(folder), owner="ada", key=key, title="ended, not noted"), flush=True)
sys.stdin.readline()
"""


def test_two_servers_on_one_home_keep_all_runs_and_know_whose_go_on(tmp_path, monkeypatch):
    """A server that is killed before it noted a result has not lost it."""
    spec, base = spec_beside(tmp_path), tmp_path / "home"
    kept, ended = SavedRuns(base), InlineExecutor().submit(spec | {"seed": 9}, tmp_path, "ada")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    places = [str(tmp_path), str(base), ended.key]
    servers = [
        subprocess.Popen([sys.executable, "-c", _KEEPS, json.dumps([spec, *places, seeds])], **pipes)
        for seeds in ([0, 1], [1, 2])  # one run is asked for on both
    ]

    def stand(status: str) -> list[str]:
        return [run.title for run in kept.list(owner="ada") if run.status == status]

    try:
        for each in servers:
            each.stdin.write("\n")
            each.stdin.flush()
        not_noted, _ = [each.stdout.readline().strip() for each in servers]
        until(lambda: set(stand("done")) == set("012"))
        assert all(kept.load(run.id).audits for run in kept.list(owner="ada") if run.status == "done")
        assert stand("running").count("goes on") == 2
        folder = RunStore(base).folder(ended.key, "ada")
        folder.mkdir(parents=True)
        ended.result().save(folder)
        servers[0].kill()
        servers[0].wait()
        until(lambda: stand("running").count("goes on") == 1)
        assert kept.get(not_noted).status == "done"
        assert kept.load(not_noted).audits[0].name == "groups"
        [back] = kept.handed_back()
        assert kept.begin_again(back.id, restarted=True).status == "running"
        kept.hand_back()
        assert not kept.handed_back(), "it starts again by itself but once"
        # names and clocks tell nothing of whether a process goes on
        monkeypatch.setattr(socket, "gethostname", lambda: "another-container")
        name = processes.this_process(base)
        assert all(processes.goes_on(name, created, base) for created in (0.0, time.time() + 1e6))
        assert not processes.goes_on("elsewhere 1 1", time.time() + 1e6, base)
    finally:
        for each in servers:
            each.kill()
            each.communicate()


_READS = """
import ctypes, json, sys
from pathlib import Path
libc = ctypes.CDLL(None, use_errno=True)
head = (ctypes.c_uint32 * 2)(0x20080522, 0)
libc.capset(head, (ctypes.c_uint32 * 6)())  # root may write anywhere; without its privileges, no more
import io
from app.serving import api
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.runs.executors.inline import InlineExecutor
from audits.runs.storage.saved import SavedRuns, keep_run
from audits.runs.result import RunResult
from audits.runs.storage.store import RunStore, home, make_private
from audits.runs.storage.audit_log import AuditLog
spec, folder, token, key = json.loads(sys.argv[1])
told = {}
def attempt(name, act):
    try:
        told[name] = ["done", str(act())[:200]]
    except (InputError, RunFailed) as error:
        told[name] = [type(error).__name__, str(error)]
space = Workspace(token)
make_private(home())
attempt("draft", lambda: space.draft()["spec"])
attempt("save", lambda: space.save_draft({"spec": 2}))
attempt("file", lambda: space.add_file("a.csv", io.BytesIO(b"a,1")))
attempt("new", lambda: Workspace("0" * 32).save_draft({}))
attempt("audit_log", lambda: AuditLog(home()).note("opened", who="ada", workspace=token, what=""))
attempt("store", lambda: RunStore(home()))
seen = RunStore(home(), writes=False).folder(key, "ada")
attempt("seen", lambda: RunResult.load(seen).audits[0].name)
run = InlineExecutor().submit(spec, Path(folder), "ada")
told["run"] = [run.status, ""]
attempt("keep", lambda: keep_run(run, spec, Path(folder), title="", owner="ada"))
attempt("ready", lambda: sorted(api.faults()))
print(json.dumps(told))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes privileges from root")
def test_a_home_that_can_only_be_read_is_told_in_sentences_and_read(tmp_path):
    spec, base, token = spec_beside(tmp_path), tmp_path / "home", new_token()
    Workspace(token, base).save_draft({"spec": 1})
    SavedRuns(base).list()
    before = InlineExecutor().submit(spec, tmp_path, "ada")
    folder = RunStore(base).folder(before.key, "ada")
    folder.mkdir(parents=True)
    before.result().save(folder)
    folders = [base, *(path for path in base.rglob("*") if path.is_dir())]
    for path in [*folders, *(path for path in base.rglob("*") if path.is_file())]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _READS, json.dumps([spec, str(tmp_path), token, before.key])],
            env={**os.environ, "EVENHAND_HOME": str(base)},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        for path in folders:
            path.chmod(0o755)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["draft"] == ["done", "1"]
    assert told["run"][0] == "done", "what is computed does not need the home folder"
    assert told["seen"] == ["done", "groups"]
    assert told["store"][0] == "InputError"
    for name in ("save", "file", "new"):
        assert told[name][0] == "InputError", name
        assert os.strerror(errno.EACCES) in told[name][1], name
    assert told["keep"][0] == "RunFailed"
    assert told["audit_log"][0] == "RunFailed"
    assert "home" in told["ready"][1]
