"""The page that sets a second model beside the first: chosen, run in the real executor, and shown."""

from __future__ import annotations

from app import jobs
from app.compare.choices import checked_model
from audits.reports.comparison import leading_first
from tests.app.test_pages import bring, carry_out, figures, prepared, texts, visit
from tests.refused import refused


def test_a_model_that_decides_nobody_differently_is_told_before_any_number(space, monkeypatch):
    rows = "sex,x,decided,same\n" + "f,1,0,0\nm,2,1,1\nf,3,1,1\nm,4,0,0\n" * 40
    bring(space, rows, label=None, favorable=1, protected=["sex"])
    draft = space.draft()
    draft["spec"]["model"] = {"predictions": {"label": "decided"}}
    draft["compare"] = {"model": {"predictions": {"label": "same"}}}
    space.save_draft(draft)
    at = prepared(visit(space).switch_page("views/compare.py").run())
    found = carry_out(space, at).result()
    assert not len(found.compared.changes.people)
    assert any(found.compared.changes.finding in text for text in texts(at))
    assert not any("newly" in str(figure) for figure in figures(at)), "nothing changes that could be drawn"
    leading, _ = leading_first(found.compared.changes)[0]
    at = visit(space).switch_page("views/glance.py").run()
    assert leading.headline in texts(at), "at a glance, too"
    monkeypatch.setattr("audits.runs.spec.stamp", lambda: {"evenhand": "later"})
    jobs.forget(space)
    assert leading.headline not in texts(at.run()), "of another version"
    draft["compare"]["model"] = {"predictions": {"label": "decided", "made": "held_out"}}
    with refused("the second model"):
        checked_model(draft)  # of no model compared with itself
