"""A metric that a package brings: any function of labels and decisions, in results, tables and report."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import jaccard_score

from audits.errors import InputError
from audits.groups import metrics
from audits.reports.html import render_report
from audits.runs.executors.inline import InlineExecutor
from tests.runs.conftest import write_people

MODULE = """
from audits.groups.metrics import Metric

def jaccard(labels, decisions, people):
    return float(people[labels & decisions].sum() / people[labels | decisions].sum())

JACCARD = Metric(name="jaccard", words="Jaccard index", function=jaccard)
"""
SPEC = {
    "data": {
        "path": "people.csv",
        "label": "paid",
        "favorable": 1,
        "protected": ["group"],
        "features": ["skill"],
    },
    "model": {"predictions": {"score": "score"}},
    "audits": ["groups"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch):
    facts = tmp_path / "jaccard_metric-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: jaccard-metric\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[{metrics.GROUP}]\njaccard = jaccard_metric:JACCARD\n")
    (tmp_path / "jaccard_metric.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    metrics._plugin_metrics.cache_clear()
    write_people(tmp_path / "people.csv")
    yield tmp_path
    monkeypatch.undo()
    sys.modules.pop("jaccard_metric", None)
    metrics._plugin_metrics.cache_clear()


def test_an_installed_metric_is_in_results_table_and_report(folder: Path):
    run = InlineExecutor().submit(SPEC, folder).result()
    found = run.audits[0].result
    people = pd.read_csv(folder / "people.csv").assign(chosen=lambda table: table["score"] >= 0.5)
    by_name = {row["group"]: row["added"]["jaccard"] for row in found.to_json()["table"]}
    for name, own in people.groupby("group"):
        estimate = next(each for group, each in by_name.items() if name in str(group))
        assert estimate["value"] == pytest.approx(jaccard_score(own["paid"], own["chosen"]))
        # the slow obvious jackknife, one person after the other
        rest = [own.drop(row) for row in own.index]
        without = np.array([jaccard_score(some["paid"], some["chosen"]) for some in rest])
        spread = np.sqrt((len(own) - 1) / len(own) * ((without - without.mean()) ** 2).sum())
        half = (estimate["high"] - estimate["low"]) / 2
        assert half == pytest.approx(stats.t.isf(0.025, len(own) - 1) * spread)
    assert "Jaccard index" in found.to_frame().to_csv()
    assert "Jaccard index" in render_report(run)


def test_a_metric_named_as_one_of_ours_is_refused(folder: Path):
    path = folder / "jaccard_metric.py"
    path.write_text(path.read_text().replace('name="jaccard"', 'name="accuracy"'))
    with pytest.raises(InputError, match=r"'jaccard' .* 'jaccard-metric'"):
        InlineExecutor().submit(SPEC, folder).result()


def test_few_people_and_no_mistakes_have_no_jackknife_interval():
    """Of five against five whose decisions are nearly always right, two in three were cleared."""

    def accuracy(y, d, n):
        return n[y == d].sum() / n.sum()

    metric = metrics.Metric(name="own", words="own", function=accuracy)
    for cells, stated in (([4, 1, 4, 0], False), ([10, 0, 10, 0], False), ([9, 1, 9, 1], True)):
        found = metrics.by_jackknife(metric, np.array(cells, dtype=float), 0.05)
        assert (found.low is not None) == stated
        assert found.value == pytest.approx((cells[0] + cells[2]) / sum(cells))
