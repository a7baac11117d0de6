"""Every figure of every audit over a table of hard labels: no two texts overlap, none leaves its figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser
from plotly.offline import get_plotlyjs

from audits.drawing.style import NARROWED_JS, TURNED_JS
from audits.groups.figures.ranked import draw_ranked, ranked_groups
from audits.runs.executors.inline import InlineExecutor
from audits.runs.registry import AUDITS

pytestmark = pytest.mark.browser

LONG = "district_of_residence_at_the_time_of_the_application_for_work"
WORDY = "highest_educational_qualification"
NAMES = [f"People of district {place:02} counted in the last census of that year" for place in range(20)]
A, B = {LONG: NAMES[0]}, {LONG: NAMES[1]}
SHORT = "race"
OPTIONS: dict[str, dict[str, Any]] = {
    "groups": {},
    "groups, short names": {},
    "flipset": {"source": A, "target": B, "permutations": 19, "seconds": 1, "repeats": 3},
    "explain": {"source": A, "target": B},
    "explain, one row": {"source": A, "target": B, "explainers": [WORDY]},
    "barycenter": {"by": [LONG], "permutations": 19, "seconds": 1},
    "loss_ratio": {"sensitive": [LONG], "steps": 5},
    "outcome_transport": {"by": [LONG], "source": A, "target": B, "permutations": 19},
    "recourse": {"actionable": ["experience"], "by": [LONG], "permutations": 19},
    "rule_sets": {"permutations": 19},
    "sensitivity": {"protected": LONG, "bootstrap": 100},
}
COMPONENT = (Path(__file__).parents[2] / "assets" / "component" / "figure.js").read_text(encoding="utf-8")

APART = """
() => [...document.querySelectorAll(".js-plotly-plot")].flatMap(figure => {
    const box = figure.getBoundingClientRect();
    const texts = [...figure.querySelectorAll(".main-svg text")]
        .filter(each => each.textContent.trim() && !each.closest(".modebar, .hoverlayer, .slice")
            && getComputedStyle(each).opacity !== "0" && getComputedStyle(each).visibility !== "hidden")
        .map(each => {
            const lines = each.querySelectorAll(":scope > tspan.line");
            const says = lines.length ? [...lines].map(line => line.textContent).join(" ") : each.textContent;
            return [says, each.getBoundingClientRect()];
        })
        .filter(([, at]) => at.width > 0 && at.height > 0);
    const wrong = texts
        .filter(([, at]) => at.left < box.left - 1 || at.right > box.right + 1
            || at.top < box.top - 1 || at.bottom > box.bottom + 1)
        .map(([says]) => `${figure.id}: ${says} leaves its figure`);
    texts.forEach(([says, at], i) => texts.slice(i + 1).forEach(([other, to]) => {
        const wide = Math.min(at.right, to.right) - Math.max(at.left, to.left);
        const high = Math.min(at.bottom, to.bottom) - Math.max(at.top, to.top);
        if (wide > 3 && high > 6) wrong.push(`${figure.id}: ${says} overlaps ${other}`);
    }));
    const ticks = [...figure.querySelectorAll(".xtick text")];
    ticks.forEach((tick, i) => {
        const at = tick.getBoundingClientRect(), says = tick.textContent;
        const turned = /rotate\\((?!0)/.test(tick.getAttribute("transform"));
        if (turned && /^[−\\d.,%]+$/.test(says)) wrong.push(`${figure.id}: ${says} is turned`);
        for (const other of ticks.slice(i + 1)) {
            const to = other.getBoundingClientRect(), line = Math.abs(at.top - to.top) < 6;
            if (line && Math.min(at.right, to.right) - Math.max(at.left, to.left) > -2)
                wrong.push(`${figure.id}: ${says} touches ${other.textContent}`);
        }
    });
    for (const {textContent} of ticks.filter(tick => tick.style.display === "none"))
        wrong.push(`${figure.id}: ${textContent} is hidden`);
    for (const {xaxis} of Object.values(figure._fullLayout._plots ?? {}))
        if (xaxis._length < 120) wrong.push(`${figure.id}: a panel is ${Math.round(xaxis._length)} px wide`);
    return wrong;
})
"""


def table(folder: Path) -> Path:
    """Write 600 people of twenty groups with names of sixty letters, gaps, and a column of one value."""
    rng = np.random.default_rng(3)
    n = 600
    place = np.sort(rng.choice(20, n, p=np.arange(20, 0, -1) / 210))
    skill = rng.normal(size=n).round(1)
    hired = (skill + rng.normal(size=n) - 0.03 * place > 0).astype(int)
    levels = ["none", "apprenticeship or vocational training of two years at least", "university"]
    frame = pd.DataFrame(
        {
            LONG: np.array(NAMES)[place],
            SHORT: np.array(["African-American", "Caucasian", "Hispanic", "Native American"])[place % 4],
            "experience": np.where(rng.random(n) < 0.1, np.nan, (30_000 + 9_000 * skill).round()),
            WORDY: rng.choice(levels, n),
            "one_value": "the only value that anyone in this table has",
            "hired": hired,
        }
    )
    frame.to_csv(folder / "hard.csv", index=False)
    return folder


def figures(folder: Path) -> list[tuple[str, str]]:
    """Draw every exhibit of every audit; name and JSON of each."""
    made = []
    for name, options in OPTIONS.items():
        spec = {
            "data": {
                "path": "hard.csv",
                "label": "hired",
                "favorable": 1,
                "protected": [SHORT if "short" in name else LONG],
                "features": ["experience", WORDY, "one_value"],
                "test_size": 0.5,
            },
            "model": {"train": "logistic"},
            "audits": [{(audit := name.partition(",")[0]): options}],
        }
        run = InlineExecutor().submit(spec, folder)
        assert run.error is None, (name, run.error)
        result = run.result().audits[0].result
        for exhibit in AUDITS[audit].section(result).exhibits:
            figure = exhibit.figure()
            wide = " wide" if exhibit.wide and "narrow" not in figure.layout.meta else ""
            made.append((f"{name} {exhibit.key}{wide}", figure.to_json()))
        ranked = ranked_groups(result) if audit == "groups" else None
        if ranked is not None:
            made.append((f"{name} ranked", draw_ranked(result, ranked).to_json()))
    return made


def page(drawn: list[tuple[str, str]]) -> str:
    """Return one page with all figures, drawn as wide as it is."""
    parts = [f'<div id="{name}"></div>' for name, _ in drawn]
    calls = [f"draw({name!r}, {json});" for name, json in drawn]
    return (
        "<!doctype html><meta charset=utf-8><style>body{margin:0;font-family:sans-serif}"
        "[id$=wide]{min-width:600px}</style>"  # as pages show them on a narrow screen
        f"<script>{get_plotlyjs()}</script>{''.join(parts)}<script>"
        f"{NARROWED_JS}const all = []; const draw = (id, f) => {{ if (innerWidth < 560) narrowed(f.layout); "
        "all.push(Plotly.newPlot(id, f.data, {...f.layout, autosize: true}, "
        "{responsive: true, displayModeBar: false})); };"
        f"{TURNED_JS}"  # as reports and figures taken away have it
        f"{''.join(calls)} Promise.all(all).then(() => window.drawn = true);</script>"
    )


TURNED = """
() => [...document.querySelectorAll(".js-plotly-plot")].every(figure =>
    Math.abs(figure.querySelector(".main-svg").getBoundingClientRect().width - figure.clientWidth) < 2)
"""
"""Every figure has taken the width that it now has."""


def test_no_texts_overlap_at_any_width_and_when_a_phone_is_turned(tmp_path: Path, browser: Browser) -> None:
    drawn = tmp_path / "figures.html"
    drawn.write_text(page(figures(table(tmp_path))), encoding="utf-8")
    context = browser.new_context(viewport={"width": 380, "height": 800})
    shown = context.new_page()
    shown.goto(drawn.as_uri(), wait_until="commit")
    shown.wait_for_function("window.drawn", timeout=180_000)
    found = [f"380 px: {each}" for each in shown.evaluate(APART)]
    for width in (760, 380):  # turned, and turned back
        shown.set_viewport_size({"width": width, "height": 800})
        shown.wait_for_function(TURNED, timeout=180_000)
        shown.wait_for_timeout(1_000)
        found += [f"{width} px: {each}" for each in shown.evaluate(APART)]
    context.close()
    assert not found, "\n".join(found)


def test_the_component_lays_figures_out_as_reports_do() -> None:
    assert NARROWED_JS.strip() in COMPONENT
