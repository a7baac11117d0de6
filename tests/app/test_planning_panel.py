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
    """Ask for so many worlds; return the plan as it goes on in the real executor."""
    for key, value in (("people", people), ("others", people), ("gap", 40.0), ("worlds", worlds)):
        at.number_input(key=f"plan-{key}").set_value(value)
    at.button(key="simulate").click().run()
    run, asked, _ = at.session_state["_kept plan groups"]
    assert asked["worlds"] == worlds
    return run


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


def test_a_plan_runs_where_runs_do_and_says_its_worlds_or_is_stopped(space) -> None:
    at = open_example(space, "hiring")
    at = _settled(at.switch_page(PAGES["groups"]).run(), "groups")
    run = _simulated(at, 400, 5)
    assert run.wait(120)
    assert not space.runs(), "a plan is no run"
    at.run()
    assert not at.exception
    table = next(frame.value for frame in at.dataframe if "planted" in frame.value)
    assert [each.split()[0] for each in table["planted"]] == ["0", "40"]
    assert table[EVIDENCE][1].startswith("100%")
    assert any(re.search(r"\b400\b.*\b400\b.*\b5\b", each.value) for each in at.caption), "people and worlds"
    run = _simulated(at, 400, 500)
    while run.progress.fraction == 0 and not run.finished:
        time.sleep(0.1)
    at.run()
    at.button(key="plan-cancel").click().run()
    assert run.wait(120)
    assert run.status == "cancelled"
    assert not at.exception
