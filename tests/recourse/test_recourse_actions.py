"""What a person can change: admissible rows, costs, the fewest changes, roles that cannot help."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pandas as pd

from audits.models import make_subject, model_spec
from audits.recourse import GERMAN_ROLES, Limit
from tests.outcome_transport.subjects import Linear, mixed, recourse_of, subject_of
from tests.refused import refused


def test_rows_on_the_way_are_admissible():
    subject = mixed()
    limits = {
        "age": {"direction": "up"},
        "job": {"among": ["clerk", "judge"]},
        "children": Limit(direction="down", at_least=1),
    }
    result = recourse_of(subject, steps=tuple(np.linspace(0, 1, 11)), limits=limits)
    frame = subject.data.frame
    paths = result.paths
    assert paths["value of children"].dtype == frame["children"].dtype  # whole numbers
    today = frame.loc[paths.index]
    assert (paths["value of age"].to_numpy() >= today["age"].to_numpy()).all()
    children, had = paths["value of children"].to_numpy(), today["children"].to_numpy()
    assert (children <= had).all()
    assert ((children >= 1) | (children == had)).all()
    moved = paths["value of job"].to_numpy() != today["job"].to_numpy()
    assert set(paths["value of job"][moved]) <= {"clerk", "judge"}
    assert paths["value of money"].between(frame["money"].min(), frame["money"].max()).all()
    first = paths[paths["alpha"] == 0]
    for name in result.columns:
        assert first[f"value of {name}"].tolist() == frame.loc[first.index, name].tolist()
    assert (first["cost"] == 0).all()
    assert not first["decision"].any()


def test_fewest_changes_against_all_subsets():
    subject = mixed(seed=2)
    result = recourse_of(subject)
    frame = subject.data.frame.loc[result.people.index]
    last = result.paths[result.paths["alpha"] == 1]
    moved = last[[f"value of {name}" for name in result.columns]].set_axis(list(result.columns), axis=1)
    fewest = pd.Series(np.nan, frame.index)
    for size in range(4, 0, -1):
        for names in combinations(result.columns, size):
            accepted = subject.favorable_score(frame.assign(**{name: moved[name] for name in names})) >= 0.5
            fewest[accepted] = size
    assert result.people["fewest_proved"].all()
    assert result.people["fewest"].astype(float).equals(fewest.rename("fewest"))


def test_a_role_the_model_does_not_read_warns():
    frame = pd.DataFrame(
        {"x": [-2.0, -1.0, 1.0, 3.0], "z": [0.5, 0.5, 0.5, 1.5], "group": ["a", "b", "a", "b"]}
    )
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x", "z")))
    assert result.columns == ("x",)
    assert "'z'" in result.warnings[0]
    with refused("roles.actionable"):
        recourse_of(subject_of(frame, Linear(x=1.0), ("z",)))


def test_the_preset_for_german_credit(shared_data):
    from audits.data.loader import load_data
    from audits.data.public import public_section
    from audits.data.spec_parser import data_spec

    data = load_data(data_spec(public_section("german", shared_data)))
    assert set(GERMAN_ROLES) <= {*data.frame.columns}
    subject = make_subject(data, model_spec({"train": "logistic"}), test_size=0.5)
    result = recourse_of(subject, preset="german_credit", by=("sex",), resolution=0.25, fewest=False)
    assert set(result.columns) == {name for name, role in GERMAN_ROLES.items() if role == "actionable"}
    shares = [row.reclassified.value for row in result.by_alpha]
    assert shares[0] == 0
    assert shares[-1] > 0.3  # Figure 4: moving all the way helps many
    means = [row.mean_score.value for row in result.by_alpha]
    assert means[-1] > means[0]


class _Jobs:
    """A real model that likes one job."""

    name, classes, invents, sha256, columns = "jobs", None, True, "0" * 64, ("x", "job")

    def __init__(self, best: str):
        self.best = best

    def score(self, rows: pd.DataFrame) -> np.ndarray:
        total = rows["x"].to_numpy(dtype=float) + 1.5 * (rows["job"].astype(str) == self.best).to_numpy()
        return np.asarray(1 / (1 + np.exp(-total)))


def test_names_of_categories_change_no_result():
    """Of categories that are equally near, today's stays, not the first in the alphabet."""
    rng = np.random.default_rng(0)
    job = rng.integers(0, 3, 80)
    base = pd.DataFrame({"x": rng.normal(size=80).round(1), "group": rng.choice(["a", "b"], 80)})
    found = []
    for names in (("none", "clerk", "judge"), ("judge", "clerk", "none")):
        subject = subject_of(base.assign(job=np.array(names)[job]), _Jobs(names[-1]), ("x", "job"))
        found.append(recourse_of(subject, resolution=0.25, fewest=False))
    pd.testing.assert_series_equal(found[0].people["alpha"], found[1].people["alpha"])
    assert np.allclose(found[0].scores.to_numpy(), found[1].scores.to_numpy())


def test_fewest_changes_grown_greedily_are_not_said_to_be_proved(monkeypatch):
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0], "c": [0.0, 1.0], "group": ["a", "b"]})
    subject = subject_of(frame, Linear(a=1.0, b=2.0, c=3.0), ("a", "b", "c"))
    monkeypatch.setattr("audits.recourse.paths._MAX_ROWS", 1)
    threshold = 1 / (1 + np.exp(-6.0 + 1e-9))
    result = recourse_of(dataclasses.replace(subject, threshold=threshold), resolution=0.5, permutations=19)
    assert set(result.people["fewest_columns"].iloc[0].split(", ")) == {"a", "b", "c"}
    assert result.people["fewest_proved"].tolist() == [False]
