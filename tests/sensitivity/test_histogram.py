"""The histogram of sensitivities: everybody once, the threshold an edge, whatever its size."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from audits.results import load_result, save_result
from audits.sensitivity import SensitivityOptions, sensitivity
from audits.sensitivity.inference import histogram_of
from tests.sensitivity.conftest import people, subject_of


@pytest.mark.parametrize("threshold", [0.0, 1e-300, 1e-10, 0.05, 0.7, 3.0, 40.0])
def test_everybody_is_counted_once_and_the_flagged_lie_above_the_threshold(threshold: float):
    values = np.random.default_rng(0).exponential(size=500)
    data = SimpleNamespace(groups=pd.DataFrame({"sex": np.resize(["f", "m"], 500)}))
    found = histogram_of(values, data, np.full(500, 2.0), ("sex",), threshold)
    edges, counts = np.array(found.edges), np.array(found.people)
    assert len(edges) == len(counts) + 1 <= 90
    assert (np.diff(edges) > 0).all()
    assert counts.sum() == 1000
    assert threshold in edges
    assert counts[edges[:-1] >= threshold].sum() == 2 * (values > threshold).sum()
    assert np.allclose(np.sum(list(found.groups.values()), axis=0), counts)


def test_hardly_anybody_with_any_sensitivity_needs_no_more_bins():
    values = np.append(np.full(480, 1e-12), np.ones(20))
    found = histogram_of(values, SimpleNamespace(groups={}), np.ones(500), (), 1e-10)
    assert found.people[0] == 480
    assert len(found.people) < 90


def test_missing_categories_survive_the_store(tmp_path: Path):
    frame = people(300)
    frame.loc[::7, "town"] = None
    result = sensitivity(subject_of(frame), SensitivityOptions(protected="group"))
    save_result(result, tmp_path, "x")
    assert load_result(type(result), tmp_path, "x").encoding == result.encoding
