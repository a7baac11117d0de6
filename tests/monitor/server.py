"""The monitors' routes alone, for tests that kill the server: ``uvicorn tests.monitor.server:app``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette

from app.serving import api, monitor_api


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    monitor_api.INGEST.start()
    yield
    monitor_api.INGEST.close()


app = Starlette(routes=api.ROUTES, lifespan=lifespan)
