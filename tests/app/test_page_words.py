"""Refusals name options by what stands above their controls, and these labels stand on the pages."""

from __future__ import annotations

import importlib
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
            label = AUDITS[audit].pages.labels.get(option.name, option.name.replace("_", " "))
            assert f"“{label}”" in told
            assert not _A_KEY.search(told), told


def test_keys_of_a_model_are_told_by_what_stands_above_their_controls() -> None:
    page = (ROOT / "app" / "data_model" / "model_choice.py").read_text(encoding="utf-8")
    for key in ("classes", "columns", "output", "predict"):
        told = re.findall("“([^”]+)”", page_words(f"It is unknown; give model.{key}: the values."))
        assert told
        assert f'"{told[0]}"' in page, told


def test_labels_stand_on_the_pages() -> None:
    """`other_options` words what a page does not draw itself by the record, as `any_audit_page` does."""
    pages = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "app").rglob("*.py")
        if path.name != "page_words.py"
    )
    labels = [
        label
        for name in AUDITS.ours
        if f'any_audit_page("{name}"' not in pages
        for option, label in AUDITS[name].pages.labels.items()
        if option in _drawn(name, pages)
    ]
    assert len(labels) > 35
    assert not [label for label in labels if label not in pages]


def _drawn(name: str, pages: str) -> set[str]:
    """Return the options that the page of an audit draws itself."""
    if f'other_options("{name}"' not in pages:
        return set(AUDITS[name].pages.labels)
    module = importlib.import_module(f"app.{name}.choices")
    return getattr(module, "_DRAWN", {"source", "target", "explainers"})


def test_page_texts_are_of_audits_and_pages_that_there_are() -> None:
    stems = {path.stem for path in (ROOT / "assets" / "texts").glob("*_*.md")}
    owners = {re.sub(r"_(limits|question|reading|stability|trust)$", "", stem) for stem in stems}
    assert owners <= {path.stem for path in (ROOT / "app" / "views").glob("*.py")}


@pytest.mark.parametrize(
    "literal",
    [
        "skops.io.dump(model, 'x.skops')",
        "`evenhand run data.label`",
        "'groups.by'",
        "“data.label”",
        "https://host/data.label",
        "uploads/model.path.csv",
        "model.onnx",
        "data.csv",
        "groups.html",
    ],
)
def test_code_values_files_and_addresses_stand_as_they_are(literal: str) -> None:
    said = page_words(f"It says {literal}, and data.label is missing.")
    assert literal in said
    assert said.count("data.label") == literal.count("data.label")
