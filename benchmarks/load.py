"""Many people at once, each opening pages and running audits, with an attacker among them.

    python -m benchmarks.load [--sessions 50] [--seconds 300]

Each session speaks to the server as a browser does, over its socket, in a workspace of its own whose groups
have names that nobody else's have: it opens all pages, moves sliders, clicks marks of figures, sends files
and has audits run, closing its tab now and then. A monitor is sent 200 rows a second meanwhile. The clients
compute on the cores that the server has. Printed: reactions of pages (from asking until the script has run),
what was done, what was wrong or someone else's, and the memory of the server's own process: at most, and by
how much it grows a minute over the last half. Half a megabyte is flat; that takes half an hour to tell
(``--seconds 1800``), until what is remembered of results and closed tabs is full.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import sys
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import psutil
import urllib3
from scipy.stats import theilslopes
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from urllib3.exceptions import HTTPError
from websockets.sync.client import connect

from app.drafts import drafts
from app.workspaces.workspace import Workspace, new_token
from audits.monitor.bundle import MonitorBundle
from audits.monitor.monitors import Monitors
from audits.runs.execute import prepared_subject
from audits.runs.spec import parse_spec
from audits.runs.storage.database import database
from audits.runs.storage.store import home
from benchmarks.measuring import asked
from benchmarks.serving import Served, served
from tests.security.corpus import MODELS, TABLES

ROWS_A_SECOND, BATCHES_A_SECOND = 200, 5
PATIENCE = 60.0
THINKING = (1.0, 4.0)  # seconds between two acts of one person
BROUGHT_BYTES, LEFT_BYTES = 1_000_000, 8_000_000  # of a table sent over a page, and of what no page takes
CLOSES = 0.02  # how often a tab is closed after an act: a session ends, and another begins
_HTTP = urllib3.PoolManager(maxsize=8, retries=False)
# a run that ended early for another one is not what someone sees
_FINISHED = {ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR}


@dataclass
class Told:
    """What was measured and found wrong."""

    reactions: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    acts: Counter[str] = field(default_factory=Counter)


class Visitor:
    """One person with a browser tab; what each reaction took, and what was done, is told."""

    def __init__(self, port: int, token: str, told: Told) -> None:
        self._port, self._token, self._told = port, token, told
        address, spoken = f"ws://127.0.0.1:{port}/_stcore/stream", ["streamlit", "load"]
        self._opened = connect(address, subprotocols=spoken, max_size=None, open_timeout=PATIENCE)
        self._socket = self._opened.__enter__()
        self.pages: dict[str, str] = {"": "", "groups": ""}  # until the server has said which there are
        self._page = self._session = self.uploader = self.words = ""
        self.buttons: dict[str, str] = {}
        self.sliders: dict[str, tuple[float, float] | list[str]] = {}  # ends, or what is chosen among
        self.figures: list[str] = []

    def open(self, page: str) -> float:
        """Open a page; return the seconds until its script has run."""
        self._page = page
        return self._ask()

    def press(self, label: str) -> float:
        """Press a button of the page."""
        return self._ask(self.buttons[label], trigger_value=True)

    def act(self, drawn: random.Random) -> None:
        """Move a slider or click a mark, whichever the page has and chance says."""
        if self.sliders and (not self.figures or drawn.random() < 0.5):
            name, places = drawn.choice(list(self.sliders.items()))
            if isinstance(places, list):
                self._ask(name, string_array_value={"data": [drawn.choice(places)]})
            else:
                self._ask(name, double_array_value={"data": [drawn.uniform(*places)]})
            self._told.acts["sliders"] += 1
        elif self.figures:
            clicked = json.dumps([{"event": "clicked", "value": {"trace": 0, "point": drawn.randint(0, 3)}}])
            self._ask(_make_trigger_id(drawn.choice(self.figures), "events"), json_trigger_value=clicked)
            self._told.acts["marks"] += 1

    def bring(self, content: bytes) -> None:
        """Send a file to the uploader of the page, and have the page take it."""
        name = uuid.uuid4().hex
        status = self.send(content, name)
        self._told.acts[f"uploads answered {status}"] += 1
        if status == 204:
            info = {"file_id": name, "name": "people.csv", "size": len(content)}
            self._ask(self.uploader, file_uploader_state_value={"uploaded_file_info": [info]})

    def send(self, content: bytes, name: str = "") -> int:
        """Send a file that no page may ever take; return how that is answered, 0 by a closed connection."""
        token, name = generate_xsrf_token_string(), name or uuid.uuid4().hex
        address = f"http://127.0.0.1:{self._port}/_stcore/upload_file/{self._session}/{name}"
        head = {"X-Xsrftoken": token, "Cookie": f"_streamlit_xsrf={token}"}
        file = {"f": ("people.csv", content)}
        try:
            return _HTTP.request("PUT", address, fields=file, headers=head, timeout=PATIENCE).status
        except HTTPError:  # refused before all of it went
            return 0

    def close(self) -> None:
        """Close the tab."""
        self._opened.__exit__(None, None, None)

    def _ask(self, widget: str = "", **value: Any) -> float:
        known, parts, began = self.pages.get(self._page, ""), [], time.monotonic()
        asked = {"page_script_hash": known, "page_name": "" if known else self._page}
        asked |= {"query_string": f"w={self._token}"}
        if widget:
            asked["widget_states"] = {"widgets": [{"id": widget, **value}]}
        else:
            self.sliders, self.figures, self.uploader = {}, [], ""
        self._socket.send(BackMsg(rerun_script=asked).SerializeToString())
        while True:
            told = ForwardMsg.FromString(self._socket.recv(timeout=PATIENCE))  # type: ignore[arg-type]
            kind = told.WhichOneof("type")
            if kind == "navigation":
                pages = told.navigation.app_pages
                self.pages = {each.url_pathname: each.page_script_hash for each in pages}
            elif kind == "new_session":
                self._session = told.new_session.initialize.session_id
            elif kind == "delta":
                of = told.delta.new_element.WhichOneof("type")
                element = getattr(told.delta.new_element, of) if of else None
                if of == "button":
                    self.buttons[element.label] = element.id
                elif of == "slider" and len(element.default) == 1:
                    self.sliders[element.id] = list(element.options) or (element.min, element.max)
                elif of == "bidi_component" and "figure" in element.id:
                    self.figures.append(element.id)
                elif of == "file_uploader":
                    self.uploader = self.uploader or element.id
                parts.append(str(told.delta))
            elif kind == "script_finished" and told.script_finished in _FINISHED:
                self.words = "\n".join(parts)
                self._told.reactions.append(time.monotonic() - began)
                return self._told.reactions[-1]


def workspace(place: int, base: Path) -> Workspace:
    """Make a workspace whose groups are named after its place."""
    space = Workspace(new_token(), base)
    rng = np.random.default_rng(place)
    people = pd.DataFrame(rng.integers(0, 10, (400, 2)), columns=["skill", "other"])
    group = rng.choice(["x", "y"], 400)
    people = people.assign(kind=[f"group{place:03d}{each}" for each in group])
    people["hired"] = (people["skill"] + (group == "x") > 5).astype(int)
    path = space.add_file("people.csv", io.BytesIO(people.to_csv(index=False).encode()))
    draft = drafts.from_files([path], "upload")
    space.save_draft(drafts.with_data(draft, label="hired", favorable=1, protected=["kind"]))
    return space


def person(port: int, place: int, space: Workspace, until: float, told: Told) -> None:
    """Open pages and run audits until the time is over; note what took how long and what was wrong."""
    drawn = random.Random(1000 + place)
    own = f"group{place:03d}"
    draft = space.draft()
    head, *rows = next((space.folder / "files").rglob("people.csv")).read_bytes().splitlines(keepends=True)
    content = b"".join([head, *rows * (BROUGHT_BYTES // sum(map(len, rows)))])
    visitor = Visitor(port, space.token, told)
    try:
        while time.monotonic() < until:
            page = drawn.choice(list(visitor.pages))
            visitor.open(page)
            _check(visitor, own, page, told)
            if "Run audit" in visitor.buttons and page == "groups" and drawn.random() < 0.5:
                told.acts["audits"] += 1
                visitor.press("Run audit")
                while "Cancel" in visitor.buttons and time.monotonic() < until:
                    time.sleep(0.7)
                    visitor.buttons.clear()
                    visitor.open("groups")
                    _check(visitor, own, "groups", told)
                    if "Cancel" not in visitor.buttons and own not in visitor.words:
                        told.wrong.append(f"{own}: its result is not shown")
            if visitor.uploader and drawn.random() < 0.5:
                visitor.bring(content)
                space.save_draft(draft)
            visitor.act(drawn)
            time.sleep(drawn.uniform(*THINKING))
            if drawn.random() < CLOSES:
                visitor.close()
                visitor = Visitor(port, space.token, told)
    except Exception as error:  # noqa: BLE001
        told.wrong.append(f"{own}: {type(error).__name__}: {error}")
    finally:
        visitor.close()


def _check(visitor: Visitor, own: str, page: str, told: Told) -> None:
    words, page = visitor.words, page or "data"
    if others := {*re.findall(r"group\d{3}", words)} - {own}:
        told.wrong.append(f"{own} saw {sorted(others)[:3]} on {page}")
    if "Something went wrong on this page" in words or "Traceback" in words:
        told.wrong.append(f"{own}: the page {page} broke")
    if not words:
        told.wrong.append(f"{own}: the page {page} was empty")


def attacker(port: int, base: Path, until: float, told: Told) -> None:
    """Open what wants more than it shows, run what never ends, and guess tokens."""
    drawn = random.Random(0)
    while time.monotonic() < until:
        space, corpus = workspace(999, base), drawn.choice([TABLES, MODELS])
        name, (make, _) = drawn.choice(list(corpus.items()))
        path, draft = space.add_file(name, io.BytesIO(make())), space.draft() or {}
        if corpus is TABLES:
            draft = drafts.from_files([path], "upload")
        else:
            model = {"path": str(path), "columns": ["skill", "other"]}
            draft = {**draft, "spec": {**draft["spec"], "model": model}}
        space.save_draft(draft)
        try:
            visitor = Visitor(port, space.token, Told())
            for page in ("", "groups"):
                visitor.open(page)
            if "Run audit" in visitor.buttons:
                visitor.press("Run audit")
            told.acts["bytes that no page takes"] += sum(
                LEFT_BYTES for _ in range(8) if visitor.send(b"x" * LEFT_BYTES) == 204
            )
            visitor.close()
        except Exception:  # noqa: BLE001  (his own page may wait as long as it likes)
            pass
        for _ in range(20):
            with contextlib.suppress(HTTPError):
                _HTTP.request("POST", _predictions(port, new_token()), body=b"{}", timeout=5)
        told.acts["attacks"] += 1


def monitored(port: int, until: float, told: Told) -> None:
    """Send a monitor of decisions alone its rows, and count how it answers."""
    people = pd.DataFrame({"kind": ["a", "b"] * 200, "hired": [0, 1, 1, 0] * 100, "skill": range(400)})
    people.to_csv(home() / "reference.csv", index=False)
    data = {"path": "reference.csv", "label": "hired", "favorable": 1, "protected": ["kind"]}
    spec = {"data": data, "model": {"predictions": {"label": "hired"}}, "audits": ["groups"]}
    bundle = MonitorBundle.of_predictions(prepared_subject(parse_spec(spec, home())), inputs=False)
    monitor, token = Monitors(database()).create(bundle, name="load")
    number = ROWS_A_SECOND // BATCHES_A_SECOND
    body = json.dumps({"decisions": [True, False] * (number // 2)}).encode()
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    due = time.monotonic()
    while due < until:
        time.sleep(max(0.0, due - time.monotonic()))
        due += 1 / BATCHES_A_SECOND
        address = _predictions(port, monitor.id)
        answer = _HTTP.request("POST", address, body=body, headers=head, timeout=PATIENCE)
        told.acts["monitor's rows" if answer.status == 200 else f"monitor: {answer.status}"] += number


def _predictions(port: int, monitor: str) -> str:
    return f"http://127.0.0.1:{port}/api/v1/monitors/{monitor}/predictions"


def measure(sessions: int, seconds: float, app: Served) -> Told:
    """Have everyone come within the first tenth of the time; return what was measured."""
    told, until, port, pid = Told(), time.monotonic() + seconds, urlsplit(app.url).port, app.pid
    spaces = [workspace(place, app.home) for place in range(sessions)]
    works = [(person, port, place, space) for place, space in enumerate(spaces)]
    works += [(monitored, port), (attacker, port, app.home)]
    people = [threading.Thread(target=of, args=(*given, until, told), daemon=True) for of, *given in works]
    memory, web, started = [], psutil.Process(pid), time.monotonic()
    began = sum(web.cpu_times()[:2])
    for each in people:
        each.start()
        time.sleep(0.1 * seconds / len(people))
    while time.monotonic() < until:
        memory.append(((time.monotonic() - started) / 60, web.memory_info().rss / 1e6))
        time.sleep(min(5.0, seconds / 20))
    for each in people[:-1]:
        each.join(PATIENCE + 30)
    # the median slope between any two looks: a result that is opened in between lifts two of them, no more
    minutes, sizes = zip(*memory[len(memory) // 2 :], strict=True)
    slope = theilslopes(sizes, minutes).slope
    spent = sum(web.cpu_times()[:2]) - began
    median, p95, longest = np.quantile(told.reactions, [0.5, 0.95, 1])
    most = max(size for _, size in memory)
    lines = [f"{sessions} sessions, {seconds:,.0f} seconds, {os.cpu_count()} cores"]
    lines += [f"{what}: {number:,}" for what, number in sorted(told.acts.items())]
    lines += [f"{len(told.reactions):,} page reactions: median {median:.2f} s, longest {longest:.1f} s"]
    lines += [f"95th percentile {p95:.2f} s (limit 1.5 s); web process {spent / seconds:.0%} of one core"]
    lines += [
        f"its memory {most:,.0f} MB at most, in the last half {slope:+.2f} MB a minute (flat up to 0.5)"
    ]
    print("\n".join([*lines, f"wrong or somebody else's: {len(told.wrong)}", *told.wrong[:20]]))
    return told


if __name__ == "__main__":
    given = asked(__doc__, sessions=50, seconds=300.0)
    with served() as server:
        os.environ["EVENHAND_HOME"] = str(server.home)
        told = measure(given.sessions, given.seconds, server)
        log = (server.home / "server.log").read_text(encoding="utf-8", errors="replace")
    for sentence, times in Counter(re.findall(r"(?m)^\w+(?:Error|Exception): .*", log)).most_common(5):
        print(f"  the server's log, {times} times: {sentence[:200]}")
    sys.exit(1 if told.wrong else 0)
