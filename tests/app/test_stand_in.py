"""A model in the place of stored decisions: what it learns, and the way there and back with a click each."""

from __future__ import annotations

from app.widgets.choices.stand_in import with_stand_in, without_stand_in
from tests.app.test_pages import open_example, prepared, visit


def _draft(model: dict, threshold: object = 0.5) -> dict:
    data = {"path": "p.csv", "label": "truth", "favorable": 1, "protected": ["sex"]}
    return {"id": "1", "spec": {"data": data, "model": model, "threshold": threshold, "seed": 0}}


def test_it_learns_decisions_from_all_columns_or_a_score_s_side_of_its_threshold() -> None:
    before = _draft({"predictions": {"label": "decided"}})
    made = with_stand_in(before, ("age", "decided"), ("sex",))
    assert made["spec"]["data"]["label"] == "decided"
    assert made["spec"]["data"]["features"] == ["age", "sex"]
    assert "train" in made["spec"]["model"]
    assert without_stand_in(made) == before
    risk = {"predictions": {"score": "risk", "higher_is": "unfavorable"}}
    made = with_stand_in(_draft(risk, 5), ("age",), ("sex",))
    assert made["spec"]["data"]["label"] == {"column": "risk", "below": 5}
    assert "favorable" not in made["spec"]["data"]
    assert made["spec"]["threshold"] == 0.5
    made = with_stand_in(_draft({"predictions": {"score": "s"}}), ("age",), ("sex",))
    assert made["spec"]["data"]["label"] == {"column": "s", "at_least": 0.5}
    by_group = _draft({"predictions": {"score": "s"}}, {"sex": {"f": 0.4, "m": 0.5}})
    assert with_stand_in(by_group, ("age",), ("sex",)) is None


def test_a_page_that_needs_a_model_offers_one_with_a_click(space) -> None:
    at = open_example(space, "arrests")
    for page in ("attribute_swap", "loss_ratio"):
        at = prepared(at.switch_page(f"views/{page}.py").run())
        assert not [each for each in at.button if each.key == "run"], "it cannot run"
    at.button(key="stand-in").click().run()
    assert not at.exception
    assert at.button(key="run").disabled is False
    prepared(at.switch_page("views/recourse.py").run())
    at.button(key="mend-actionable").click().run()
    assert at.button(key="run").disabled is False
    at.button(key="stand-in-back").click().run()
    assert "predictions" in space.draft()["spec"]["model"]


def test_stored_decisions_are_not_offered_to_explain_themselves(space) -> None:
    prepared(open_example(space, "arrests"))
    draft = space.draft()
    data = {key: value for key, value in draft["spec"]["data"].items() if key not in {"features", "label"}}
    space.save_draft({**draft, "spec": {**draft["spec"], "data": data}})
    at = prepared(visit(space).switch_page("views/explain.py").run())
    explainers = at.multiselect(key="explainers")
    assert explainers.value
    assert "high_risk" not in [*explainers.options, *explainers.value]
