"""The page that sets a second model beside the first: chosen, run in the real executor, shown, taken away."""

from __future__ import annotations

from typing import Any

from app.workspaces.workspace import Workspace
from tests.app.test_pages import bring, carry_out, figures, open_example, prepared, texts, visit

PAGE = "views/compare.py"


def test_without_a_label_a_stand_in_is_offered_with_one_click(space: Workspace) -> None:
    at: Any = open_example(space, "arrests")
    prepared(at.switch_page(PAGE).run())
    assert not at.exception
    assert not [button for button in at.button if button.key == "run"], "a press could only fail"
    at.button(key="stand-in").click().run()
    assert not at.exception
    assert space.draft()["spec"]["model"] == {"train": "mlp"}  # type: ignore[index]
    assert not at.button(key="run").disabled
    at.button(key="stand-in-back").click().run()
    assert "predictions" in space.draft()["spec"]["model"]  # type: ignore[index]
    prepared(at.switch_page("views/data_model.py").run())
    assert not any("'high_risk'" in text for text in texts(at)), "what was predicted is no true outcome"


def test_a_model_that_decides_nobody_differently_is_told_before_any_number(space: Workspace) -> None:
    rows = "sex,x,decided,same\n" + "f,1,0,0\nm,2,1,1\nf,3,1,1\nm,4,0,0\n" * 40
    bring(space, rows, label=None, favorable=1, protected=["sex"])
    draft: Any = space.draft()
    draft["spec"]["model"] = {"predictions": {"label": "decided"}}
    draft["compare"] = {"model": {"predictions": {"label": "same"}}}
    space.save_draft(draft)
    at: Any = prepared(visit(space).switch_page(PAGE).run())
    found = carry_out(space, at).result()
    assert not len(found.compared.changes.people)
    assert any(found.compared.changes.finding in text for text in texts(at))
    assert not any("newly" in str(figure) for figure in figures(at)), "nothing changes that could be drawn"
