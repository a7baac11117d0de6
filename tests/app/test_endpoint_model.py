"""A model behind an address, on the page: offered where the owner allows hosts, asked by other processes."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.data_model.model_choice import WAYS
from app.workspaces.workspace import Workspace
from audits.runs.executors.inline import InlineExecutor
from tests.app.test_pages import boxes, bring, prepared, texts, visit
from tests.models.conftest import make_people
from tests.models.scorer import serve


def bring_people(space: Workspace) -> None:
    bring(space, make_people(80).to_csv(index=False), label="hired", favorable="yes", protected=["sex"])


def ask(at: AppTest, url: str) -> AppTest:
    """Type an address and wait until it was asked."""
    (address,) = (field for field in at.text_input if str(field.key).startswith("address-"))
    return prepared(address.set_value(url).run())


def test_no_host_is_offered_unless_the_owner_allows_one(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_ENDPOINT_HOSTS", "")
    bring_people(space)
    at = visit(space)
    (way,) = (group for group in at.segmented_control if str(group.key).startswith("way-"))
    assert WAYS["endpoint"] not in way.options


def test_an_endpoint_is_asked_and_its_finding_shown(
    space: Workspace, own_worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve() as scorer:
        monkeypatch.setenv("EVENHAND_ENDPOINT_HOSTS", f"{scorer.url.split('/')[2]},127.0.0.1:9")
        bring_people(space)
        at = visit(space)
        (way,) = (group for group in at.segmented_control if str(group.key).startswith("way-"))
        way.set_value("endpoint").run()
        assert len(boxes(at)) == 1, "no address yet"
        for url, named in (
            ("http://elsewhere.example.org/score", "elsewhere.example.org"),  # no host that is allowed
            ("http://127.0.0.1:9/score", "127.0.0.1:9"),  # nobody answers there
        ):
            [said] = boxes(ask(at, url))
            assert named in said
            assert at.button(key="next").disabled
        ask(at, scorer.url)
        assert not at.exception
        assert not at.button(key="next").disabled, texts(at)
        assert any(len(re.findall(r"\b[01](?:\.\d+)?\b", text)) == 5 for text in texts(at)), (
            "scores of five people"
        )
        assert all(len(each) <= 80 for each in scorer.requests), "only the first people are asked about"
        prepared(at.switch_page("views/groups.py").run())
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
