"""Refusals name options by what stands above their controls, and these labels stand on the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.widgets.page_words import page_words
from audits.options import options_of
from audits.runs.registry import AUDITS

ROOT = Path(__file__).resolve().parents[2]
_A_KEY = re.compile(
    r"\b(?:data|model|read|compare|audits|roles|threshold|flipset|groups|explain|barycenter|recourse|mitigation"
    r"|outcome_transport|rule_sets|loss_ratio|sensitivity)(?:\[\d+\])?\.[a-z]|\b[a-z]+_[a-z_]+\b|[`{}]"
)


@pytest.mark.parametrize("audit", list(AUDITS))
def test_options_are_told_by_what_stands_above_their_controls(audit: str) -> None:
    for option in options_of(AUDITS[audit].options):
        for where in (f"audits[0].{audit}.{option.name}", f"{audit}.{option.name}"):
            told = page_words(f"{where} must be above 0, got -1.")
            assert f"“{AUDITS[audit].label(option.name)}”" in told
            assert not _A_KEY.search(told), told


def test_code_values_files_and_addresses_stand_as_they_are() -> None:
    for literal in ("`evenhand run data.label`", "'groups.by'", "https://host/data.label", "data.csv"):
        said = page_words(f"It says {literal}, and data.label is missing.")
        assert literal in said
        assert said.count("data.label") == literal.count("data.label")
