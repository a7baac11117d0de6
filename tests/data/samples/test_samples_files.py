"""The written files: the committed ones come out again, obey their specs, and say true numbers."""

from __future__ import annotations

from itertools import chain, pairwise
from pathlib import Path

import onnx
import pandas as pd
import pytest

from audits.checks import build
from audits.data import DataSpec, build_data, read_table, samples
from audits.data.samples.catalogue import FOLDER
from audits.errors import InputError
from audits.models import ModelSpec, make_subject
from benchmarks.samples import arrests, loans
from benchmarks.samples.files import contents

CATALOGUE = samples.CATALOGUE
SAID = {
    part.partition("\n")[0]: part
    for part in (FOLDER / "README.md").read_text(encoding="utf-8").split("\n## ")[1:]
}


def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / name)


def test_the_committed_files_come_out_again_byte_for_byte(tmp_path: Path) -> None:
    written = {path.name: path.read_bytes() for path in samples.write_samples("all", tmp_path / "new")}
    assert written == {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.is_file()}
    made = contents()
    assert {name: written[name] for name in made} == made
    assert {name for name in written if not name.endswith((".yaml", ".md"))} == set(made)
    assert sum(map(len, written.values())) < 3_000_000


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_spec_names_files_columns_and_groups_that_exist(name: str) -> None:
    sample = CATALOGUE[name]
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


def test_the_readme_says_true_numbers() -> None:
    text = {name: SAID[sample.title] for name, sample in CATALOGUE.items()}
    people = _table("arrests.csv")
    north, south = (int(people.loc[people["group"] == g, "high_risk"].sum()) for g in ("north", "south"))
    assert (
        f"{north:,} and {south} of 2,000 are rated high risk: a net flipset of {north - south}"
        in text["arrests"]
    )
    assert f"{(north - south) / 2000:.2%}".replace("%", " %") in text["arrests"]
    assert f"{arrests.theory().flips_to_low:.3%}".replace("%", " %") in text["arrests"]
    assert f"{arrests.theory().mean_difference:.4f} more" in text["arrests"]

    pupils = _table("admissions.csv")
    admitted = pupils.groupby("school")["admitted"].sum()
    assert admitted["B"] == 250
    assert f"{admitted['A']} of 1,000" in text["admissions"]

    law = _table("law_school.csv")
    assert 0.45 < (law["fya"] >= 0).mean() < 0.55  # "about half of the class"

    table = _table("loans.csv")
    blanks = table.isna().sum()
    counts = [str(blanks[column]) for column in ("income", "employment_years", "savings", "housing")]
    assert f"{', '.join(counts[:3])} and {counts[3]} values" in text["loans"]
    where = loans.PLANTED.where
    member = (table["sex"] == where["sex"]) & (table["ethnicity"] == where["ethnicity"]) & (table["age"] < 30)
    truth = _table("loans_truth.csv")
    assert truth["application_id"].tolist() == table.loc[member, "application_id"].tolist()
    approved = (table.loc[member, "model_score"] >= loans.THRESHOLD).sum()
    without = (truth["score_without_penalty"] >= loans.THRESHOLD).sum()
    assert truth["refused_by_penalty"].sum() == without - approved
    said = f"{member.sum()} people, of whom {approved} are approved instead of {without}: "
    assert said + f"{without - approved} are refused" in text["loans"]
    assert f"{table.loc[member, 'repaid'].mean():.0%}".replace("%", " % of the") in text["loans"]
    assert f"({table['repaid'].mean():.0%} of all)".replace("%", " %") in text["loans"]


def test_rounding_moves_nobody_across_a_threshold() -> None:
    drawn = loans.generate(5_000)
    stored = _table("loans.csv")["model_score"]
    exact = drawn.applications["model_score"]
    assert ((stored >= loans.THRESHOLD) == (exact >= loans.THRESHOLD)).all()
    pupils = _table("admissions.csv")
    for _, year in pupils[pupils["school"] == "B"].groupby("year"):
        assert year.loc[year["admitted"] == 1, "gpa"].min() > year.loc[year["admitted"] == 0, "gpa"].max()


def test_chosen_sets_only_and_the_same_readme(tmp_path: Path) -> None:
    one = samples.write_samples(["hiring"], tmp_path)
    assert {path.name for path in one} == {*CATALOGUE["hiring"].files, "README.md"}
    samples.write_samples("arrests", tmp_path)  # into the same folder: nothing there differs
    assert {path.name for path in tmp_path.iterdir()} == {
        *CATALOGUE["hiring"].files,
        *CATALOGUE["arrests"].files,
        "README.md",
    }


def test_other_files_are_kept_unless_told(tmp_path: Path) -> None:
    mine = tmp_path / "README.md"
    mine.write_text("mine")
    with pytest.raises(
        InputError, match=r"^out already holds another README\.md, which would be replaced, got "
    ):
        samples.write_samples("all", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert mine.read_text() == "mine"
    samples.write_samples("hiring", tmp_path, overwrite=True)
    assert mine.read_text() == (FOLDER / "README.md").read_text()


def test_bad_requests_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"^name must be a bundled example set or 'all', got 'lons'; did you mean"
    ):
        samples.write_samples(["lons"], tmp_path)
    with pytest.raises(InputError, match=r"^name must name at least one example set; choose hiring"):
        samples.write_samples([], tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"^out must be a folder that can be written \(.+\), got "):
        samples.write_samples("all", tmp_path / "file")


@pytest.mark.parametrize("name", ["hiring.onnx", "loans.onnx"])
def test_models_are_of_standard_steps_alone(name: str) -> None:
    model = onnx.load(FOLDER / name)
    onnx.checker.check_model(model, full_check=True)
    assert {opset.domain for opset in model.opset_import} <= {"", "ai.onnx.ml"}
    assert not any(tensor.external_data for tensor in model.graph.initializer)


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
    spec = CATALOGUE[name].spec
    data_spec = build(DataSpec, spec["data"], "data")
    data = build_data(read_table(FOLDER / spec["data"]["path"]), data_spec)
    model = build(ModelSpec, spec["model"], "model")
    subject = make_subject(data, model, threshold=spec["threshold"], base_dir=FOLDER)
    assert (data.n, data.excluded) == (data.rows_read, {})
    by_group = pd.Series(subject.decisions).groupby(data.groups.iloc[:, 0].to_numpy()).sum()
    assert by_group.to_dict() == decided
