"""A format of model files that a package brings, one module: known to specs and where formats are listed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from scipy.special import expit

from audits.models import formats
from audits.runs.executors.inline import InlineExecutor
from tests.installed import installed
from tests.refused import refused
from tests.runs.conftest import make_spec, write_people

MODULE = """
import numpy as np

from audits.models.formats import Format

FORMAT = Format(
    name="scorecard",
    reader="scorecard_file",
    suffixes=(".card",),
    begins=lambda first: first.startswith(b"SCORECARD"),
)

def open_file(file, *, log_odds=False):
    from audits.models.native.opened import Feature, Opened

    start, *lines = file.content.decode().splitlines()[1:]
    points = {name: float(worth) for name, worth in (line.split() for line in lines)}

    def predict(frame):
        return float(start) + frame[list(points)].to_numpy() @ np.array(list(points.values()))

    return Opened("scorecard", file.sha256, tuple(map(Feature, points)), True, predict, "logits", file=file)
"""
SPEC = make_spec({"groups": {}}, model={"path": "model.bin"})


@pytest.fixture
def folder(tmp_path: Path):
    (tmp_path / "model.bin").write_text("SCORECARD\n-1.5\nskill 0.75\n")
    write_people(tmp_path / "people.csv")
    told = {"group": formats.GROUP, "name": "scorecard", "found": formats.formats}
    with installed(tmp_path, "scorecard_file:FORMAT", MODULE, **told):
        yield tmp_path


def test_its_files_are_audited_and_it_is_listed_beside_ours(folder: Path):
    run = InlineExecutor().submit(SPEC, folder).result()
    people = pd.read_csv(folder / "people.csv")
    chosen = expit(-1.5 + 0.75 * people["skill"]) >= 0.5
    rows = {row["group"]: row for row in run.audits[0].result.to_json()["table"]}
    for name, decided in chosen.groupby(people["group"]):
        assert rows[name]["selection_rate"]["value"] == pytest.approx(decided.mean())
    assert ".card" in formats.files_read()
    (folder / "model.bin").write_text("nothing known")
    with refused("model.path"):
        InlineExecutor().submit(SPEC, folder).result()
    (folder / "model.bin").rename(folder / "model.card")  # told by its ending where its content says nothing
    assert formats.format_of(folder / "model.card") == "scorecard"


def test_a_format_named_as_one_of_ours_is_refused(folder: Path):
    path = folder / "scorecard_file.py"
    path.write_text(path.read_text().replace('name="scorecard"', 'name="ONNX"'))
    with refused("format 'scorecard' of the package 'scorecard-file'"):
        formats.formats()
