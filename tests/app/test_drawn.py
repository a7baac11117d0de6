"""Figures and answers that are kept: made once, and gone with their result or what there is room for."""

from __future__ import annotations

import gc
from concurrent.futures import wait

import plotly.graph_objects as go

from app import figure_cache as kept
from app.answer_cache import Futures
from app.figure_cache import cached_figure


class _Result:
    """A result knows what it found."""


def test_a_figure_is_drawn_once_for_a_result_and_its_choices_and_goes_with_it():
    def draw(*_, **__):
        return go.Figure()

    one, other = _Result(), _Result()
    first = cached_figure(draw, one, "sex", most=3)
    assert cached_figure(draw, one, "sex", most=3) is first
    assert cached_figure(draw, other, "sex", most=3) is not first
    assert cached_figure(draw, one, "race", most=3) is not first
    assert cached_figure(draw, one, "sex", most=3.0) is not first, "1 and 1.0 and True are different choices"
    assert cached_figure(draw, one, ["sex"]) is not cached_figure(draw, one, ["sex"]), "it may have changed"
    places = {id(one), id(other)}
    assert places <= set(kept._figures)
    del one, other
    gc.collect()
    assert not places & set(kept._figures)


def test_answers_of_workspaces_that_asked_longest_ago_go_first():
    kept = Futures(len, 1000)
    for owner in "abc":
        wait([kept.get(owner, "key", lambda: "x" * 400)])
    again = kept.get("c", "key", lambda: "made anew")
    assert again.result() == "x" * 400
    wait([kept.get("d", "key", lambda: "y")])
    assert kept.size <= 1000
    assert kept.get("a", "key", lambda: "made anew").result() == "made anew"
