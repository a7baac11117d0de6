"""Cards of the data doctor: each mends the table, and what was mended stands in data, notes and report."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
import pandas as pd

from app import jobs
from audits.reports.html import render_report
from tests.app.test_pages import bring, carry_out, visit

N = 400


def all_wrong() -> pd.DataFrame:
    """Draw people of whom much is wrong: each column but four has one thing to mend."""
    rng = np.random.default_rng(1)
    skill, sex = rng.normal(size=N).round(2), rng.choice(["female", "male"], N)
    paid = np.where(skill + rng.normal(size=N) > 0, "yes", "no")
    frame = pd.DataFrame({"sex": sex, "skill": skill, "town": rng.choice(["A", "B", "C"], N), "paid": paid})
    told = rng.random(N) < 0.97
    wives = frame["sex"].where(rng.random(N) < 0.95, "female").map({"female": "wife", "male": "husband"})
    frame = frame.assign(
        nr=np.arange(7, N + 7),
        gender=frame["sex"].map({"female": 0, "male": 1}),
        bar1=np.where(told & (frame["paid"] == "yes"), 5.0, 1.0) + frame["skill"] / 10,
        relationship=wives,
        town=frame["town"].mask(frame.index % 7 == 0, "a "),
        debt=(90 * rng.random(N)).round(1).astype(object),
        wealth=(10 * frame["skill"]).mask(frame.index == 3, 1e308),
        age=(40 + 9 * frame["skill"]).round().mask(frame.index == 5, -66).astype(int),
        education=np.arange(N) % 4 + 1,
    )
    frame.loc[8, "debt"] = "inf"
    return frame


def test_much_that_is_wrong_with_one_table_is_mended_card_by_card_and_stands_in_the_report(space) -> None:
    bring(space, all_wrong().to_csv(index=False), label="paid", favorable="yes")
    at = visit(space)
    at.query_params["part"] = "Quality"
    at.run()

    def mend(kind: str) -> dict[str, Any]:
        """Click what mends a thing found, see that it is found no more, and return the data section then."""
        key = re.sub(r"\W", "-", kind)
        said = at.container(key=f"found-{key}").text[0].value
        at.button(key=f"mend-{key}-0").click().run()
        assert not at.exception
        assert not any(str(box.key) == f"found-{key}" for box in at.container), kind
        data: dict[str, Any] = space.draft()["spec"]["data"]
        assert data["mended"][-1].startswith(said)
        return data

    assert mend("words among numbers")["read"]["missing"] == ["inf"]
    assert mend("infinite")["recode"]["wealth"] == {"map": {"1e+308": None}}
    assert mend("impossible")["recode"]["age"] == {"map": {"-66": None}}
    assert mend("spellings")["recode"]["town"] == {"map": {"a": "A"}}
    assert "nr" not in mend("row numbers")["features"]
    data = mend("same attribute")
    assert data["protected"] == ["sex"]
    assert "gender" not in data["features"]
    assert "bar1" not in mend("gives the label away")["features"]
    data = mend("proxies of sex")
    assert set(data["features"]) == {"skill", "town", "debt", "wealth", "age", "education"}
    data = mend("codes")
    assert data["kinds"] == {"education": "categorical"}
    assert not any(str(box.key).startswith("found-") for box in at.container)
    carry_out(space, at.switch_page("views/groups.py").run())
    result = jobs.result(space, space.runs()[0]["spec"])
    assert set(data["mended"]) <= set(result.data["notes"])
    report = html.unescape(render_report(result))
    assert [said for said in data["mended"] if said not in report] == []
