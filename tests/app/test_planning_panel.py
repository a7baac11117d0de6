"""What could be seen among how many people: on every audit's page, simulated, or why it cannot be."""

from __future__ import annotations

import re
import time

from app.pages import view_of
from audits.runs.registry import AUDITS
from audits.stats import EVIDENCE
from tests.app.test_pages import open_example, prepared, texts

PAGES = {name: view for name in AUDITS.ours if (view := view_of(name))}


def _settled(at, name):
    """Open the panel, and draw the page again until its data are there."""
    at.session_state[f"planning-{name}"] = True
    return prepared(at.run())


def _simulated(at, people: int, worlds: int):
    """Ask for so many worlds and wait for them in the real executor."""
    at.number_input(key="plan-people").set_value(people)
    at.number_input(key="plan-others").set_value(people)
    at.number_input(key="plan-gap").set_value(40.0)
    at.number_input(key="plan-worlds").set_value(worlds)
    at.button(key="simulate").click().run()
    return at


def test_every_page_plans_or_says_why_not(space) -> None:
    """No page is without a plan but those whose record says why."""
    at = open_example(space, "law_school")
    for name, page in PAGES.items():
        at = _settled(at.switch_page(page).run(), name)
        assert not at.exception, name
        assert at.expander(key=f"planning-{name}"), name
        why = AUDITS[name].unplanned
        forms = [button for button in at.button if button.key == "simulate"]
        assert bool(why) != bool(forms), name
        if why:
            assert why in texts(at), name


def test_a_plan_runs_where_runs_do_and_says_its_worlds(space) -> None:
    at = open_example(space, "hiring")
    at = _settled(at.switch_page(PAGES["groups"]).run(), "groups")
    at = _simulated(at, 400, 5)
    run, asked, _ = at.session_state["_kept plan groups"]
    assert run.wait(120)
    assert asked["worlds"] == 5
    assert not space.runs(), "a plan is no run"
    at.run()
    assert not at.exception
    table = next(frame.value for frame in at.dataframe if "planted" in frame.value)
    assert [each.split()[0] for each in table["planted"]] == ["0", "40"]
    assert table[EVIDENCE][1].startswith("100%")
    assert any(re.search(r"\b400\b.*\b400\b.*\b5\b", each.value) for each in at.caption), "people and worlds"


def test_a_plan_can_be_stopped(space) -> None:
    at = open_example(space, "hiring")
    at = _settled(at.switch_page(PAGES["groups"]).run(), "groups")
    at = _simulated(at, 400, 500)
    run, _, _ = at.session_state["_kept plan groups"]
    while run.progress.fraction == 0 and not run.finished:
        time.sleep(0.1)
    at.run()
    at.button(key="plan-cancel").click().run()
    assert run.wait(120)
    assert run.status == "cancelled"
    assert not at.exception
