"""The recourse audit: by hand, as a property, against the slow way, limits, and bad input."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, FeatureSpace, build_data
from audits.errors import InputError, RunCancelled
from audits.figures import recourse as figures
from audits.figures.recourse_person import person_path
from audits.figures.style import alt_text
from audits.models import Subject, make_subject, model_spec
from audits.outcomes import GERMAN_ROLES, Limit, RecourseResult, recourse
from audits.outcomes.fewest import fewest_changes
from audits.reports.sections import SECTIONS
from audits.results import load_result, plain, save_result
from tests.outcomes.conftest import crowd, scored


class Linear:
    """A real model: a weighted sum of columns, squeezed into (0, 1)."""

    name, classes, invents, sha256 = "sum", None, True, "0" * 64

    def __init__(self, **weights: float):
        self.weights = weights
        self.columns = tuple(weights)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        total = sum(w * frame[name].to_numpy(dtype=float) for name, w in self.weights.items())
        return np.asarray(1 / (1 + np.exp(-total)))


def subject_of(frame: pd.DataFrame, model: object, actionable: tuple[str, ...], **data: object) -> Subject:
    spec = DataSpec(
        protected=("group",),
        kinds={"x": "continuous"},
        features=tuple(name for name in frame.columns if name != "group"),
        roles={"actionable": actionable, "mutable": (), "immutable": ()},
        **data,
    )
    built = build_data(frame, spec)
    return Subject(built, model, 0.5, FeatureSpace.fit(built), score_kind="probability")


@pytest.fixture
def by_hand() -> Subject:
    """Rejected at x = -2 and -1, accepted at x = 1 and 3; the score's order pairs them so."""
    frame = pd.DataFrame(
        {"x": [-2.0, -1.0, 1.0, 3.0], "z": [0.5, 0.5, 0.5, 1.5], "group": ["a", "b", "a", "b"]}
    )
    return subject_of(frame, Linear(x=1.0), ("x",))


def test_by_hand(by_hand):
    result = recourse(by_hand, steps=(0, 0.5, 0.75, 1), resolution=0.25)
    # -2 goes to 1: -0.5 half way, so it needs α = 0.75 (0.25); -1 goes to 3: 1 half way, exactly 0 at 0.25
    assert [row.reclassified.value for row in result.by_alpha] == [0, 0.5, 1, 1]
    assert result.people["alpha"].tolist() == [0.75, 0.25]
    sd = np.std([-2, -1, 1, 3])
    assert result.people["cost"].tolist() == pytest.approx([2.25 / sd, 1 / sd])
    changes = {row.alpha: row.mean_change.value for row in result.changes}
    assert changes == pytest.approx({0: 0, 0.5: 1.75, 0.75: 2.625, 1: 3.5})
    last = result.paths[result.paths["alpha"] == 1]
    assert last["value of x"].tolist() == pytest.approx([1, 3])
    assert result.people["fewest"].tolist() == [1, 1]
    assert [row.group for row in result.by_group] == ["a", "b"]
    assert result.verdict == "insufficient evidence"


def test_mass_that_splits_goes_to_the_mean():
    """One rejected person against two accepted ones: the barycentre (Eq. 15)."""
    frame = pd.DataFrame({"x": [-1.0, 1.0, 4.0], "group": ["a", "a", "b"]})
    result = recourse(subject_of(frame, Linear(x=1.0), ("x",)), steps=(0.0, 0.5, 1.0))
    values = result.paths.set_index("alpha")["value of x"]
    assert values.tolist() == pytest.approx([-1, 0.75, 2.5])


def mixed(n: int = 120, seed: int = 0) -> Subject:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "children": rng.integers(0, 6, n),
            "age": rng.integers(20, 70, n),
            "job": rng.choice(["none", "clerk", "judge"], n),
            "money": rng.normal(size=n).round(2),
            "group": rng.choice(["a", "b"], n),
        }
    )
    total = frame["money"] + 0.5 * (frame["job"] == "judge") - 0.2 * frame["children"] + 0.02 * frame["age"]
    frame["label"] = (total + rng.normal(size=n) * 0.3 > total.median()).astype(int)
    spec = DataSpec(
        label="label",
        favorable=1,
        protected=("group",),
        features=("children", "age", "job", "money"),
        roles={"actionable": ("children", "age", "job", "money"), "mutable": (), "immutable": ()},
    )
    return make_subject(build_data(frame, spec), model_spec({"train": "logistic"}), test_size=0.6)


def test_rows_on_the_way_are_admissible():
    subject = mixed()
    limits = {
        "age": {"direction": "up"},
        "job": {"among": ["clerk", "judge"]},
        "children": Limit(direction="down", at_least=1),
    }
    result = recourse(subject, steps=tuple(np.linspace(0, 1, 11)), limits=limits)
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


def test_against_the_slow_way():
    """One person at a time: plan by hand, interpolate, decode, score."""
    subject = mixed(seed=1)
    result = recourse(subject, steps=(0, 0.3, 1), fewest=False)
    scores, decided = subject.scores, subject.decisions
    space = FeatureSpace.fit(subject.data, result.columns)
    z = space.encode(subject.data.frame)
    rejected, accepted = np.flatnonzero(~decided), np.flatnonzero(decided)
    order = rejected[np.argsort(scores[rejected], kind="stable")]
    theirs = accepted[np.argsort(scores[accepted], kind="stable")]
    n, m = len(order), len(theirs)
    for rank, person in enumerate(order):
        share = np.clip(
            np.minimum((np.arange(m) + 1) / m, (rank + 1) / n) - np.maximum(np.arange(m) / m, rank / n), 0, 1
        )
        goal = n * share @ z[theirs]
        row = space.decode((0.7 * z[person] + 0.3 * goal)[None])
        frame = subject.data.frame.iloc[[person]].assign(**{name: row[name].to_numpy() for name in row})
        label = subject.data.frame.index[person]
        mine = result.paths.loc[label]
        mine = mine[mine["alpha"] == 0.3].iloc[0]
        assert mine["score"] == pytest.approx(float(subject.favorable_score(frame)[0]), abs=1e-9)


def test_fewest_changes_against_all_subsets():
    subject = mixed(seed=2)
    result = recourse(subject)
    frame = subject.data.frame.loc[result.people.index]
    last = result.paths[result.paths["alpha"] == 1]
    moved = last[[f"value of {name}" for name in result.columns]].set_axis(list(result.columns), axis=1)
    for person, row in result.people.iterrows():
        sizes = [
            size
            for size in range(1, 5)
            for names in combinations(result.columns, size)
            if subject.favorable_score(
                frame.loc[[person]].assign(**{name: moved.loc[[person], name] for name in names})
            )[0]
            >= 0.5
        ]
        assert row["fewest_proved"]
        assert (min(sizes) if sizes else None) == (None if pd.isna(row["fewest"]) else row["fewest"])


def test_fewest_changes_grown_greedily(monkeypatch):
    import audits.outcomes.fewest as module

    monkeypatch.setattr(module, "_MOST_ROWS", 4)
    frame = pd.DataFrame({"a": [0.0], "b": [0.0], "c": [0.0]})
    model = Linear(a=1.0, b=2.0, c=3.0)
    sets, proved = fewest_changes(
        frame, frame + 1.0, lambda rows: rows @ [1.0, 2.0, 3.0], lambda s, who: np.asarray(s) >= 5.0
    )
    assert sets == [("b", "c")] or sets == [("c", "b")]
    assert proved.tolist() == [True]
    monkeypatch.setattr(module, "_MOST_ROWS", 1)
    sets, proved = fewest_changes(
        frame, frame + 1.0, lambda rows: rows @ [1.0, 2.0, 3.0], lambda s, who: np.asarray(s) >= 6.0
    )
    assert set(sets[0]) == {"a", "b", "c"}
    assert proved.tolist() == [False]
    assert model.columns == ("a", "b", "c")


def test_the_group_that_has_further_to_go_is_found():
    rng = np.random.default_rng(3)
    group = rng.choice(["a", "b"], 500)
    frame = pd.DataFrame({"x": rng.normal(size=500) - 1.5 * (group == "b"), "group": group})
    result = recourse(subject_of(frame, Linear(x=1.0), ("x",)), permutations=199)
    rows = {row.group: row for row in result.by_group}
    assert rows["b"].burden.value > rows["a"].burden.value
    assert rows["b"].burden_difference.low > 0
    assert result.burden_p_value < 0.01
    assert result.verdict == "evidence of a difference"
    assert "b have furthest to go: mean burden" in result.finding


def test_chance_alone_is_no_burden():
    rng = np.random.default_rng(4)
    p = []
    for k in range(15):
        frame = pd.DataFrame({"x": rng.normal(size=80), "group": rng.choice(["a", "b"], 80)})
        p.append(
            recourse(
                subject_of(frame, Linear(x=1.0), ("x",)), permutations=39, resolution=0.2, rng=k
            ).burden_p_value
        )
    assert np.mean(np.array(p) <= 0.05) < 0.3


def test_cost_weights_scale_the_burden(by_hand):
    one = recourse(by_hand).people["cost"]
    other = recourse(by_hand, cost_weights={"x": 3.0}).people["cost"]
    assert other.to_numpy() == pytest.approx(3 * one.to_numpy())


def test_a_role_the_model_does_not_read_warns():
    frame = pd.DataFrame(
        {"x": [-2.0, -1.0, 1.0, 3.0], "z": [0.5, 0.5, 0.5, 1.5], "group": ["a", "b", "a", "b"]}
    )
    result = recourse(subject_of(frame, Linear(x=1.0), ("x", "z")))
    assert result.columns == ("x",)
    assert "does not read 'z': changing it cannot help" in result.warnings[0]
    with pytest.raises(InputError, match="only columns that the model does not read"):
        recourse(subject_of(frame, Linear(x=1.0), ("z",)))


def test_json_keys_round_trip_and_figures(tmp_path):
    result = recourse(mixed())
    values = result.to_json()
    assert {"by_alpha", "by_group", "changes"} <= set(values)
    assert {"alpha", "reclassified", "mean_score"} <= set(values["by_alpha"][0])
    assert {"feature", "alpha", "mean_change"} <= set(values["changes"][0])
    assert [row["alpha"] for row in values["by_alpha"]] == [0, 0.25, 0.5, 0.75, 1]
    save_result(result, tmp_path, "recourse")
    again = load_result(RecourseResult, tmp_path, "recourse")
    assert plain(again) == plain(result)
    pd.testing.assert_frame_equal(again.scores, result.scores)
    for exhibit in SECTIONS["recourse"](result).exhibits:
        assert alt_text(exhibit.figure)
    assert "row" in alt_text(person_path(result, result.people.index[0]))
    # the browser's slider holds what was computed at every step, in standard deviations
    slid = figures.sliding(result)
    assert [frame.name for frame in slid.frames] == [f"{step:g}" for step in result.steps]
    half = next(frame for frame in slid.frames if frame.name == "0.5")
    row = next(row for row in result.changes if row.alpha == 0.5 and row.feature == "money")
    at = list(slid.data[2].y).index("money")
    assert row.scale == pytest.approx(FeatureSpace.fit(mixed().data).scale["money"][1], rel=0.2)
    assert half.data[1].x[at] == pytest.approx(row.mean_change.value / row.scale)
    assert half.data[0].y == figures.score_distribution(result, 0.5).data[1].y
    assert len(slid.layout.sliders[0].steps) == len(result.steps)


def test_the_slider_has_every_score_without_a_new_run():
    """Scores of the grid are those a run with those steps reports."""
    subject = mixed(seed=5)
    result = recourse(subject, fewest=False)
    fine = recourse(subject, steps=(0.32,), fewest=False)
    assert result.scores["0.32"].mean() == pytest.approx(fine.by_alpha[0].mean_score.value, abs=1e-6)


def test_same_seed_same_numbers_and_cancel():
    subject = mixed()
    assert plain(recourse(subject, rng=1)) == plain(recourse(subject, rng=1))

    def cancel(fraction: float, doing: str) -> None:
        if fraction > 0.2:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        recourse(subject, progress=cancel)


def test_the_preset_for_german_credit(shared_data):
    from audits.data.loading import load_data
    from audits.data.public import public_section
    from audits.data.spec import data_spec

    data = load_data(data_spec(public_section("german", shared_data)))
    assert set(GERMAN_ROLES) <= {*data.frame.columns}
    subject = make_subject(data, model_spec({"train": "logistic"}), test_size=0.5)
    result = recourse(subject, preset="german_credit", by=("sex",), resolution=0.25, fewest=False)
    assert set(result.columns) == {name for name, role in GERMAN_ROLES.items() if role == "actionable"}
    shares = [row.reclassified.value for row in result.by_alpha]
    assert shares[0] == 0
    assert shares[-1] > 0.3  # Figure 4: moving all the way helps many
    means = [row.mean_score.value for row in result.by_alpha]
    assert means[-1] > means[0]


BAD = [
    ({"actionable": ("nope",)}, "must be a column of the data"),
    ({"actionable": ("label",)}, "must not name the label"),
    ({"preset": "german_credit"}, "no column"),
    ({"limits": {"money": {"among": [1]}}}, "is for categories"),
    ({"limits": {"job": {"direction": "up"}}}, "needs a number, a date or ranks"),
    ({"limits": {"job": {"at_least": 1}}}, "can bound numbers only"),
    ({"limits": {"job": {"among": ["king"]}}}, "must be a value of the column"),
    ({"limits": {"age": {"at_least": 9, "at_most": 1}}}, "no larger than"),
    ({"limits": {"group": {"direction": "up"}}}, "must be an actionable column"),
    ({"limits": {"age": {"up": True}}}, "not a known key"),
    ({"cost_weights": {"age": -1}}, "greater than or equal to 0"),
    ({"cost_weights": {"age": 0, "job": 0, "children": 0, "money": 0}}, "some change a cost above 0"),
    ({"steps": (0, 2)}, "less than or equal to 1"),
    ({"steps": ()}, "at least 1"),
    ({"by": ("age",)}, "must be a protected attribute"),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_bad_input_in_one_sentence(options, words):
    with pytest.raises(InputError, match=words):
        recourse(mixed(), **options)


def test_nothing_to_do():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "group": ["a", "b", "a"]})
    with pytest.raises(InputError, match="the model accepts everyone"):
        recourse(subject_of(frame, Linear(x=1.0), ("x",)))
    with pytest.raises(InputError, match="the model accepts nobody"):
        recourse(subject_of(frame.assign(x=-frame["x"]), Linear(x=1.0), ("x",)))
    with pytest.raises(InputError, match=r"roles\.actionable must name at least one column"):
        recourse(subject_of(frame, Linear(x=1.0), ()))
    with pytest.raises(InputError, match="a column of predictions cannot"):
        recourse(scored(crowd(30), roles={"actionable": ("x",), "mutable": (), "immutable": ()}))


def test_groups_of_one_say_nothing():
    frame = pd.DataFrame({"x": [-2.0, -1.0, -3.0, 1.0, 3.0], "group": ["a", "a", "b", "a", "b"]})
    result = recourse(subject_of(frame, Linear(x=1.0), ("x",)))
    assert any("One person alone" in warning for warning in result.warnings)
    assert result.verdict == "insufficient evidence"


def test_one_persons_path_slides_through_the_steps_that_were_scored():
    result = recourse(mixed())
    row = result.people["alpha"].first_valid_index()
    figure = person_path(result, row)
    path = result.paths.loc[[row]]
    assert [frame.name for frame in figure.frames] == [f"{step:g}" for step in result.steps]
    for frame, (_, step) in zip(figure.frames, path.iterrows(), strict=True):
        mark, columns = frame.data
        assert list(mark.x) == [step["alpha"]]
        assert list(mark.y) == [step["score"]]
        moved = [text.startswith("→ ") for text in columns.text]
        today = path.iloc[0]
        assert moved == [step[f"value of {c}"] != today[f"value of {c}"] for c in result.columns]
    slider = figure.layout.sliders[0]
    labels = [step.label for step in slider.steps]
    assert [("accepted" in label) for label in labels] == path["decision"].astype(bool).tolist()
    # it starts where the decision has turned
    assert "accepted" in labels[slider.active]
    assert list(figure.data[1].x) == [result.steps[slider.active]]
    assert alt_text(person_path(result, -1)) == "Choose a rejected person."
