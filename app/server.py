"""Entry point: ``streamlit run app/server.py`` serves the pages and the HTTP API."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # streamlit puts only this folder on the path

# visitors must not have the server ask its own machine: nothing is allowed unless its owner says so
os.environ.setdefault("EVENHAND_ENDPOINT_HOSTS", "")

from app import jobs
from app.pages import load_views
from app.serving import api, monitor_api, tracing
from app.serving.bind import answer_at_once, check_address, see_who_connects
from app.serving.logs import set_up
from app.serving.maintenance import MAINTENANCE
from app.tables.client import READERS
from app.workspaces import auth
from audits.errors import InputError
from audits.runs.executors.system import open_many_files
from audits.runs.storage.store import RunStore, home, make_private

_MAX_OPEN = 65_536  # files and sockets: each tab holds one


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Warm workers and pages before the first visitor, and end the workers with the server."""
    make_private(home())
    set_up()
    tracing.set_up()
    open_many_files(_MAX_OPEN)
    answer_at_once()
    jobs.executor()
    READERS().start()
    MAINTENANCE.start()
    monitor_api.INGEST.start()
    load_views()
    yield {}
    MAINTENANCE.close()
    monitor_api.INGEST.close()
    jobs.close()
    READERS().close()
    tracing.close()


see_who_connects()  # before uvicorn puts this app into what it serves
try:  # here: what ends the start later comes with a traceback
    SECRETS: dict[str, Any] | None = auth.secrets()
    check_address(st.get_option("server.address"))
    RunStore(home())
except InputError as error:
    raise SystemExit(f"Evenhand does not start: {error}") from None

app = st.App("main.py", routes=api.ROUTES, middleware=api.MIDDLEWARE, lifespan=lifespan, secrets=SECRETS)
