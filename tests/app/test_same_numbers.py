"""The same numbers everywhere: on the page, from the command line, in results.json, and in the report."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from app import jobs
from app.drafts import drafts
from app.pages import view_of
from app.tables.exports import portable
from app.widgets.results.result_page import TABS
from app.workspaces.workspace import Workspace, issue_token
from audits.cli.main import main
from audits.runs.documents import dump_yaml
from audits.runs.registry import AUDITS
from audits.stats.badges import interval_text
from tests.app.test_pages import carry_out, visit
from tests.reports.parsing import Tables

PEOPLE = 260
QUICK = {
    "mitigation": ("also", '{"groups": {}}', {"groups": {}}),
    "loss_ratio": ("steps", "20", 20),
    "barycenter": ("seconds", "0.2", 0.2),
    "outcome_transport": ("permutations", "39", 39),
    "recourse": ("permutations", "39", 39),
    "rule_sets": ("permutations", "39", 39),
}
"""Of an audit's choices, what makes its page's run a short one: as an address and as a spec has it."""


def people() -> str:
    rng = np.random.default_rng(3)
    race = rng.choice(["Ash", "Birch"], PEOPLE)
    skill = rng.normal(0, 1, PEOPLE) + 0.7 * (race == "Ash")
    frame = pd.DataFrame({"race": race, "sex": rng.choice(["women", "men"], PEOPLE), "skill": skill.round(3)})
    frame["hours"] = rng.integers(5, 60, PEOPLE)
    frame["debt"] = rng.normal(0, 1, PEOPLE).round(3)
    frame["years"] = rng.integers(0, 20, PEOPLE)
    frame["paid"] = (skill + rng.normal(0, 1, PEOPLE) > 0.3).astype(int)
    return frame.to_csv(index=False)


@pytest.fixture(scope="module")
def space(serve_pages) -> Iterator[Workspace]:
    """A workspace with people and a model to train, for all pages."""
    with pytest.MonkeyPatch.context() as patch:
        serve_pages(patch)
        made = Workspace(issue_token())
        path = made.add_file("people.csv", io.BytesIO(people().encode()))
        data = {
            "label": "paid",
            "favorable": 1,
            "protected": ["race", "sex"],
            "features": ["skill", "hours", "debt", "years"],
            "roles": {"actionable": ["hours"]},
        }
        made.save_draft(drafts.with_data(drafts.from_files([path], "upload"), **data))
        yield made


def floats(values) -> set[float]:
    found = set()
    for value in values:
        plain = value.item() if hasattr(value, "item") else value
        if isinstance(plain, (int, float)) and not isinstance(plain, bool) and math.isfinite(plain):
            found.add(float(plain))
    return found


@pytest.mark.parametrize("audit", [name for name in AUDITS if view_of(name)])
def test_page_command_line_json_and_report_agree(audit, space, tmp_path, capsys):
    at = visit(space)
    if quick := QUICK.get(audit):
        at.query_params[f"with-{audit}-{quick[0]}"] = quick[1]
    at.switch_page(f"views/{audit}.py").run()
    assert not at.exception
    carry_out(space, at)
    record = space.runs()[0]
    at.session_state["tab"] = TABS["tested"]
    at.run()
    assert not at.exception
    told = [text.value for text in at.text]
    [chosen] = record["spec"]["audits"]
    assert not quick or chosen[audit][quick[0]] == quick[2]

    (tmp_path / "people.csv").write_text(people())
    spec = portable(jobs.result(space, record["spec"]).spec)
    (tmp_path / "spec.yaml").write_text(dump_yaml(spec), encoding="utf-8")
    out = tmp_path / "out"
    capsys.readouterr()
    # in this process, where the page's run was carried out in another
    arguments = ["run", str(tmp_path / "spec.yaml"), "--out", str(out), "--no-save", "--executor", "inline"]
    assert main(arguments) == 0
    said = " ".join(capsys.readouterr().out.split())
    [entry] = json.loads((out / "results.json").read_text(encoding="utf-8"))["audits"]
    assert entry["audit"] == audit
    assert entry == json.loads(json.dumps(jobs.result(space, record["spec"]).to_json()))["audits"][0]
    shown = entry["finding"]
    assert shown in told
    audited = jobs.result(space, record["spec"]).audits[0]
    assert at.container(key="finding").text[0].value == audited.headline
    assert " ".join(audited.headline.split()) in said
    if certainty := interval_text(audited.result.judged):
        assert at.container(key="certainty").text[0].value == certainty
    assert " ".join(shown.split()) in said
    assert any(entry["badge_text"] in element.value for element in at.markdown)

    report = Tables()
    report.feed((out / "report.html").read_text(encoding="utf-8"))
    assert " ".join(shown.split()) in " ".join(" ".join(report.text).split())
    rows = (row for tables in report.tables.values() for row in tables)
    written = {value for row in rows for cell in row for value in cell if value is not None}
    first = next(toggle for toggle in at.toggle if str(toggle.key).startswith("table-"))
    before = len(at.dataframe)
    with pytest.MonkeyPatch.context() as patch:
        # an act draws again what it changes, which a table unfolded does not
        patch.setattr(go.Figure, "__init__", lambda *_, **__: pytest.fail("a figure is drawn again"))
        first.set_value(True).run()
    assert not at.exception
    assert len(at.dataframe) == before + 1
    frames = [frame.value for frame in at.dataframe]
    numbers = max((floats(frame.to_numpy().ravel()) & written for frame in frames), key=len)
    whole = [frame for frame in frames if floats(frame.to_numpy().ravel()) <= written]
    assert len(numbers) >= 3
    assert whole, "no table of the page stands in the report as it is"
