"""The written files: the committed ones come out again, obey their specs, and say true numbers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from audits.checks import build
from audits.data import DataSpec, build_data, read_table, samples
from audits.data.samples.catalog import FOLDER
from audits.models import ModelSpec, make_subject
from benchmarks.samples.files import contents
from tests.refused import refused

CATALOG = samples.CATALOG


def test_the_committed_files_come_out_again_byte_for_byte(tmp_path: Path) -> None:
    written = {path.name: path.read_bytes() for path in samples.write_samples("all", tmp_path / "new")}
    assert written == {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.is_file()}
    made = contents()
    assert {name: written[name] for name in made} == made
    assert {name for name in written if not name.endswith((".yaml", ".md"))} == set(made)
    assert sum(map(len, written.values())) < 3_000_000


def test_other_files_are_kept_unless_told(tmp_path: Path) -> None:
    mine = tmp_path / "README.md"
    mine.write_text("mine")
    with refused("out", "README.md"):
        samples.write_samples("all", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert mine.read_text() == "mine"
    samples.write_samples("hiring", tmp_path, overwrite=True)
    assert mine.read_text() == (FOLDER / "README.md").read_text()
    for names, out, where in ((["lons"], tmp_path, "name"), ([], tmp_path, "name"), ("all", mine, "out")):
        with refused(where):
            samples.write_samples(names, out)


@pytest.mark.parametrize(
    ("name", "decided"),
    [
        ("hiring", {"female": 281, "male": 260}),
        ("loans", {"female": 1781, "male": 1842}),
        ("arrests", {"north": 2000 - 1326, "south": 2000 - 739}),
        ("admissions", {"A": 247, "B": 250}),
    ],
)
def test_the_bundled_spec_decides_as_the_readme_says(name: str, decided: dict[str, int]) -> None:
    spec = CATALOG[name].spec
    data_spec = build(DataSpec, spec["data"], "data")
    data = build_data(read_table(FOLDER / spec["data"]["path"]), data_spec)
    model = build(ModelSpec, spec["model"], "model")
    subject = make_subject(data, model, threshold=spec["threshold"], base_dir=FOLDER)
    assert (data.n, data.excluded) == (data.rows_read, {})
    by_group = pd.Series(subject.decisions).groupby(data.groups.iloc[:, 0].to_numpy()).sum()
    assert by_group.to_dict() == decided
