"""The written files: the committed ones come out again, obey their specs, and say true numbers."""

from __future__ import annotations

from itertools import chain, pairwise
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


def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / name)


def test_the_committed_files_come_out_again_byte_for_byte(tmp_path: Path) -> None:
    written = {path.name: path.read_bytes() for path in samples.write_samples("all", tmp_path / "new")}
    assert written == {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.is_file()}
    made = contents()
    assert {name: written[name] for name in made} == made
    assert {name for name in written if not name.endswith((".yaml", ".md"))} == set(made)
    assert sum(map(len, written.values())) < 3_000_000


@pytest.mark.parametrize("name", CATALOG)
def test_every_spec_names_files_columns_and_groups_that_exist(name: str) -> None:
    sample = CATALOG[name]
    spec = sample.spec
    data, model = spec["data"], spec["model"]
    table = _table(data["path"])
    assert data["path"] in sample.files
    label = data.get("label")
    named = [*data["features"], *data["protected"], *chain(*data.get("roles", {}).values())]
    named += [label["column"] if isinstance(label, dict) else label] if label else []
    named += list(model.get("predictions", {}).values())
    assert set(named) <= set(table)
    assert "path" not in model or model["path"] in sample.files
    groups = {column: set(table[column]) for column in data["protected"]}
    for column, edges in data.get("bins", {}).items():
        groups[column] = {f"[{low}, {high})" for low, high in pairwise(edges)}
        assert table[column].between(edges[0], edges[-1], inclusive="left").all()
    assert spec["audits"]
    for audit in spec["audits"]:
        [(name, options)] = audit.items()
        if name == "rule_sets":
            assert set(options["protected"]) <= set(groups)
            continue
        if name == "sensitivity":
            assert options["protected"] in groups
            told = options["counterfactuals"]
            assert set(told) <= set(data["features"])
            assert set(told.values()) <= set(table) - set(data["features"])
            continue
        assert options["source"] != options["target"]
        for column, value in (*options["source"].items(), *options["target"].items()):
            assert value in groups[column]


def test_other_files_are_kept_unless_told(tmp_path: Path) -> None:
    mine = tmp_path / "README.md"
    mine.write_text("mine")
    with refused("out", "README.md"):
        samples.write_samples("all", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert mine.read_text() == "mine"
    samples.write_samples("hiring", tmp_path, overwrite=True)
    assert mine.read_text() == (FOLDER / "README.md").read_text()


def test_bad_requests_are_named(tmp_path: Path) -> None:
    with refused("name", "'all'", "'lons'"):
        samples.write_samples(["lons"], tmp_path)
    with refused("name"):
        samples.write_samples([], tmp_path)
    (tmp_path / "file").write_text("")
    with refused("out"):
        samples.write_samples("all", tmp_path / "file")


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
