"""A model behind an address, on the page: offered where the owner allows hosts, asked by other processes."""

from __future__ import annotations

import time

import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.workspaces.workspace import Workspace
from audits.runs.executors.inline import InlineExecutor
from tests.app.test_pages import FLIPSETS, bring, prepared, texts, visit
from tests.models.conftest import make_people
from tests.models.scorer import serve


def bring_people(space: Workspace) -> None:
    bring(space, make_people(80).to_csv(index=False), label="hired", favorable="yes", protected=["sex"])


def asked(at: AppTest) -> None:
    for _ in range(120):
        if not any("Asking the service" in text for text in texts(at)):
            return
        time.sleep(1)
        at.run()


def test_no_host_is_offered_unless_the_owner_allows_one(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_ENDPOINT_HOSTS", "")
    bring_people(space)
    at = visit(space)
    (way,) = (group for group in at.segmented_control if str(group.key).startswith("way-"))
    assert "HTTP endpoint" not in way.options


def test_an_endpoint_is_asked_and_its_finding_shown(
    space: Workspace, own_worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve() as scorer:
        monkeypatch.setenv("EVENHAND_ENDPOINT_HOSTS", f"{scorer.url.split('/')[2]},127.0.0.1:9")
        bring_people(space)
        at = visit(space)
        (way,) = (group for group in at.segmented_control if str(group.key).startswith("way-"))
        way.set_value("endpoint").run()
        assert any("needs the address" in text for text in texts(at))
        (address,) = (field for field in at.text_input if field.label == "Address")
        address.set_value("http://elsewhere.example.org/score").run()
        assert any("allowed host" in text for text in texts(at))
        (address,) = (field for field in at.text_input if field.label == "Address")
        asked(address.set_value("http://127.0.0.1:9/score").run())
        assert any("must be the address of a service that answers" in text for text in texts(at)), texts(at)
        assert at.button(key="next").disabled, "nobody answers there"
        (address,) = (field for field in at.text_input if field.label == "Address")
        asked(address.set_value(scorer.url).run())
        assert not at.exception
        assert not at.button(key="next").disabled, texts(at)
        assert any("The service answered: it reads" in text for text in texts(at)), texts(at)
        assert any("scores of the first 5 people" in text for text in texts(at))
        assert all(len(each) <= 80 for each in scorer.requests), "only the first people are asked about"
        prepared(at.switch_page(FLIPSETS).run())
        at.button(key="run").click().run()
        record = space.runs()[0]
        run = jobs.executor().run(record["id"])
        assert run is not None
        assert run.wait(240)
        assert run.error is None, run.error
        at.run()
        expected = InlineExecutor().submit(record["spec"], space.folder).result().audits[0]
        assert at.container(key="finding").text[0].value == expected.headline
        assert scorer.requests
