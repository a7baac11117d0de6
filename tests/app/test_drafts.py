"""Drafts: from examples and files to specs that can run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from app.drafts import drafts
from app.drafts.suggestions import suggested_groups
from app.tables.columns import profile
from app.tables.summary import summarise
from audits.data import build_data, data_spec, read_table
from tests.refused import refused


def test_a_summary_counts_and_suggests_the_less_favored_of_the_two_largest_groups() -> None:
    people = pd.DataFrame(
        {
            "race": ["b"] * 5 + ["a"] * 4 + ["c"] * 2 + [None] * 6,
            "sex": ["f", "m"] * 8 + ["f"],
            "hired": [1, 1, 1, 1, 0] + [1, 0, 0, 0] + [1] * 8,
            "skill": range(17),
        }
    )
    spec = data_spec({"label": "hired", "favorable": 1, "protected": ["race", "sex"]})
    summary = summarise(build_data(people, spec))
    assert (summary.rows, summary.favorable) == (17, 13 / 17)
    found = [(size.value, size.people, size.favorable) for size in summary.groups["race"]]
    assert found == [("(missing)", 6.0, 1.0), ("b", 5.0, 0.8), ("a", 4.0, 0.25), ("c", 2.0, 1.0)]
    assert suggested_groups(summary, {}) == {"race": ("a", "b")}
    of_other_data = {"source": {"race": "x"}, "target": {"race": "b"}}
    assert suggested_groups(summary, of_other_data) == {"race": ("a", "b")}
    assert suggested_groups(summary, {"source": {"sex": "m"}, "target": {"sex": "f"}}) == {"sex": ("m", "f")}


def test_an_uploaded_table_has_its_likely_columns_suggested_until_they_are_chosen(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("race,age,hired\n" + "".join(f"{'ab'[k % 2]},{20 + k},{k % 2}\n" for k in range(40)))
    profiles = profile(read_table(path))
    assert [item.likely_label for item in profiles] == [None, None, 0]
    suggested = drafts.suggest_columns(drafts.from_files([path], "server"), profiles)
    assert suggested["spec"]["data"]["protected"] == ["race"]
    chosen = drafts.with_data(suggested, protected=[])
    assert drafts.suggest_columns(chosen, profiles) == chosen


@pytest.mark.parametrize(
    "chosen", [{"label": {"column": "hired", "at_least": 1}}, {"weights": "hired"}, {"person": "hired"}]
)
def test_a_column_that_gets_another_part_is_no_feature_any_more(chosen: dict[str, Any]) -> None:
    data = {"path": "people.csv", "features": ["age", "hired"], "protected": ["race", "hired"]}
    draft = {"spec": {"data": data, "model": {}}}
    changed = drafts.with_data(draft, **chosen)["spec"]["data"]
    assert (changed["features"], changed["protected"]) == (["age"], ["race"])
    slip = drafts.with_data(drafts.with_data(draft, **chosen), **dict.fromkeys(chosen))["spec"]["data"]
    assert (slip["features"], slip["protected"]) == (["age", "hired"], ["race", "hired"])
    again = drafts.with_data({"spec": {"data": {**data, **chosen}, "model": {}}}, **chosen)["spec"]["data"]
    back = drafts.with_data_restored({"spec": {"data": changed, "model": {}}}, {"features": ["hired", "age"]})
    assert back["spec"]["data"]["features"] == ["age"]  # a card taken back gives no feature that is the label
    assert again["features"] == ["age", "hired"]  # what someone ticked by hand is told, not taken away


def test_stored_predictions_are_suggested_once_and_are_no_features(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("sex,y_true,y_pred,y_prob\n" + "f,1,0,0.4\nm,0,1,0.7\n" * 30)
    profiles = profile(read_table(path))
    assert [item.stores for item in profiles] == [None, "label", "prediction", "score"]
    suggested = drafts.suggest_columns(drafts.from_files([path], "server"), profiles)
    assert suggested["spec"]["model"] == {"predictions": {"label": "y_pred"}}
    trained = {**suggested, "spec": {**suggested["spec"], "model": {"train": "logistic"}}}
    assert drafts.suggest_columns(trained, profiles)["spec"]["model"] == {"train": "logistic"}


def test_nothing_outside_the_servers_folder_is_listed_or_opened(tmp_path: Path) -> None:
    folder, outside = tmp_path / "data", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "in.csv").write_text("a\n1\n")
    (outside / "secret.csv").write_text("a\n1\n")
    (folder / "link.csv").symlink_to(outside / "secret.csv")
    (folder / "sub").symlink_to(outside)
    folder = folder.resolve()
    assert drafts.server_files(folder) == ["in.csv"]
    assert drafts.server_file(folder, "in.csv") == folder / "in.csv"
    away = ("link.csv", "sub/secret.csv", "../outside/secret.csv", str(outside / "secret.csv"), "absent.csv")
    for name in away:
        with refused("the file"):
            drafts.server_file(folder, name)
