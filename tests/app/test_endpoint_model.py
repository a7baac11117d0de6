"""A model behind an address, on the page: offered where the owner allows hosts, asked by other processes."""

from __future__ import annotations

import re

from streamlit.testing.v1 import AppTest

from app.data_model.model_choice import WAYS
from tests.app.test_pages import boxes, bring, prepared, texts, visit
from tests.models.conftest import make_people
from tests.models.scorer import serve


def way_of(at: AppTest):
    return next(group for group in at.segmented_control if str(group.key).startswith("way-"))


def ask(at: AppTest, url: str) -> AppTest:
    """Type an address and wait until it was asked."""
    (address,) = (field for field in at.text_input if str(field.key).startswith("address-"))
    return prepared(address.set_value(url).run())


def test_an_endpoint_is_offered_where_the_owner_allows_its_host_and_asked(space, monkeypatch) -> None:
    bring(space, make_people(80).to_csv(index=False), label="hired", favorable="yes", protected=["sex"])
    monkeypatch.setenv("EVENHAND_ENDPOINT_HOSTS", "")
    assert WAYS["endpoint"] not in way_of(visit(space)).options
    with serve() as scorer:
        monkeypatch.setenv("EVENHAND_ENDPOINT_HOSTS", f"{scorer.url.split('/')[2]},127.0.0.1:9")
        at = visit(space)
        way_of(at).set_value("endpoint").run()
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
        shown = [re.findall(r"\b[01](?:\.\d+)?\b", text) for text in texts(at)]
        assert any(len(scores) == 5 for scores in shown), "of five people"
        assert scorer.requests
        assert all(len(each) <= 80 for each in scorer.requests), "only the first people are asked about"
