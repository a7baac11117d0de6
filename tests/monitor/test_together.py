"""Requests that come while others are measured are measured and stored together; one alone is as well."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from app.serving.ingestion import Ingest
from audits.errors import InputError
from audits.monitor.monitors import Monitors, StoredMonitor
from audits.monitor.scoring import Scorer
from tests.monitor.conftest import ROW, store_of


class Slow(Scorer):
    """Notes how many people it is asked about at a time."""

    def __init__(self, pause: float = 0.3) -> None:
        super().__init__()
        self.pause = pause
        self.asked: list[int] = []

    def score(self, identity, bundle, columns, people):
        self.asked.append(people)
        time.sleep(self.pause)
        return super().score(identity, bundle, columns, people)


@pytest.mark.parametrize("wrong", [False, True])
def test_what_waits_is_measured_together(bundle, tmp_path: Path, wrong):
    """A row that is wrong is its sender's alone."""
    monitors, scorer = Monitors(store_of(tmp_path)), Slow()
    monitor, _ = monitors.create(bundle, name="m")
    service = Ingest(monitors, scorer, tick_seconds=60.0)
    rows = [{**ROW, "skill": place / 10} for place in range(8)]
    if wrong:
        rows[5]["skill"] = "many"
    bodies = [json.dumps({"rows": [row], "ids": [str(place)]}).encode() for place, row in enumerate(rows)]

    async def send() -> list:
        asked = [service.answer(monitor, body, "json", None) for body in bodies]
        return await asyncio.gather(*asked, return_exceptions=True)

    service.start()
    try:
        answers = asyncio.run(send())
    finally:
        service.close()
    refused = [place for place, each in enumerate(answers) if isinstance(each, InputError)]
    assert refused == ([5] if wrong else [])
    assert max(scorer.asked) > 1, "who waits is measured with others"
    assert sum(scorer.asked) == 8 or wrong
    for place, answer in enumerate(answers):
        if place not in refused:
            [row] = answer["rows"]
            assert row["id"] == str(place)
            assert row["sensitivity"] == pytest.approx(bundle.score([rows[place]]).sensitivity[0])
    assert monitors.get(monitor.id).people == 8 - len(refused)


def test_who_sends_without_pause_keeps_nobody_waiting(bundle, tmp_path: Path):
    """More monitors than threads are at work, each with a request that waits whenever another is done."""
    monitors = Monitors(store_of(tmp_path))
    made = [monitors.create(bundle, name="m")[0] for _ in range(5)]
    service = Ingest(monitors, Slow(0.02), tick_seconds=60.0)
    body, over = json.dumps({"rows": [ROW]}).encode(), []

    async def flood(monitor: StoredMonitor) -> None:
        while not over:
            await service.answer(monitor, body, "json", None)

    async def send() -> None:
        floods = [asyncio.create_task(flood(monitor)) for monitor in made[:4] for _ in range(3)]
        await asyncio.sleep(0.3)
        await asyncio.wait_for(service.answer(made[4], body, "json", None), 30)
        over.append(True)
        await asyncio.gather(*floods)

    service.start()
    try:
        asyncio.run(send())
    finally:
        service.close()
    assert monitors.get(made[4].id).people == 1
