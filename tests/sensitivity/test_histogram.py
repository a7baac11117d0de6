"""The histogram of sensitivities: everyone once, the threshold an edge, whatever its size."""

from __future__ import annotations

from pathlib import Path

from audits.results import load_result, save_result
from audits.sensitivity import SensitivityOptions, sensitivity
from tests.sensitivity.conftest import people, subject_of


def test_missing_categories_survive_the_store(tmp_path: Path):
    frame = people(300)
    frame.loc[::7, "town"] = None
    result = sensitivity(subject_of(frame), SensitivityOptions(protected="group"))
    save_result(result, tmp_path, "x")
    assert load_result(type(result), tmp_path, "x").encoding == result.encoding
