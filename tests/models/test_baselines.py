"""Baselines trained here: against numbers worked by hand, across processes, and on odd columns."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from audits.models import ModelSpec, make_subject
from audits.models.trained.baselines import train_baseline
from tests.models.conftest import audit_data, make_people
from tests.refused import refused

KINDS = ["logistic", "forest", "boosting"]
EVERY = [*KINDS, "mlp"]


def test_logistic_probabilities_are_the_sigmoid_of_its_weights(data):
    model = train_baseline(data, "logistic")
    frame, fitted = data.frame, model.pipeline[-1]
    columns = [(frame[name] - frame[name].mean()) / frame[name].std(ddof=0) for name in ("age", "income")]
    columns += [frame["flag"] == flag for flag in (0, 1)]
    columns += [frame["job"] == job for job in ("cook", "judge", "nurse")]
    x = np.column_stack([np.asarray(column, dtype=float) for column in columns])
    by_hand = 1 / (1 + np.exp(-(x @ fitted.coef_[0] + fitted.intercept_[0])))
    np.testing.assert_allclose(model.score(frame), by_hand, atol=1e-12)  # one product in another order
    assert model.classes is None
    assert model.columns == ("age", "income", "job", "flag")


def test_logistic_minimises_the_ridge_penalised_likelihood(data):
    """The same optimum found by another optimiser from the formula: C = 1, intercept free."""
    model = train_baseline(data, "logistic")
    x = np.asarray(
        model.pipeline[0].transform(data.frame[list(model.columns)].astype({"job": object, "flag": str}))
    )
    sign = np.where(data.y, 1.0, -1.0)

    def loss(theta):
        return np.logaddexp(0, -sign * (x @ theta[1:] + theta[0])).sum() + 0.5 * theta[1:] @ theta[1:]

    best = minimize(loss, np.zeros(x.shape[1] + 1), method="BFGS", options={"gtol": 1e-6, "maxiter": 2000})
    expected = 1 / (1 + np.exp(-(x @ best.x[1:] + best.x[0])))
    np.testing.assert_allclose(model.score(data.frame), expected, atol=1e-4)  # both stop at a small gradient


@given(seed=st.integers(0, 2**16), counts=st.lists(st.integers(1, 4), min_size=60, max_size=60))
@settings(max_examples=3)
def test_a_row_of_count_two_weighs_as_two_rows(make_data, people, seed, counts):
    frame = people.sample(60, random_state=seed).assign(count=counts)
    weighted = train_baseline(make_data(frame, weights="count"), "logistic")
    repeated = frame.loc[frame.index.repeat(frame["count"])].drop(columns="count").reset_index(drop=True)
    expanded = train_baseline(make_data(repeated), "logistic")
    # both stop where the gradient is below 1e-6 of a sum over up to 240 people
    np.testing.assert_allclose(weighted.score(frame), expanded.score(frame), atol=1e-3)


@pytest.mark.parametrize("kind", EVERY)
def test_every_kind_learns_what_is_there(make_data, people, kind):
    """The label is whether age is at least 50, up to 5% of noise: whoever learns beats 85%."""
    rng = np.random.default_rng(1)
    older = (people["age"] >= 50).to_numpy()
    frame = people.assign(hired=np.where(older ^ (rng.random(len(people)) < 0.05), "yes", "no"))
    subject = make_subject(make_data(frame), ModelSpec(train=kind), seed=3)
    assert (subject.decisions == subject.data.y).mean() > 0.85
    assert ((subject.scores >= 0) & (subject.scores <= 1)).all()


def test_the_held_out_people_are_not_trained_on(data):
    subject = make_subject(data, ModelSpec(train="logistic"), test_size=0.25, seed=5)
    assert subject.training is not None
    held, trained = set(subject.data.frame.index), set(subject.training.frame.index)
    assert not held & trained
    assert held | trained == set(data.frame.index)
    assert abs(len(held) - 100) <= 1
    assert any(f"{len(trained):,} people" in note for note in subject.notes)


def bits() -> list[tuple[str, str, str]]:
    """Return each kind with the digest of its model and its scores, trained anew."""
    subjects = [make_subject(audit_data(make_people(120)), ModelSpec(train=kind), seed=7) for kind in EVERY]
    return [(each.model.name, each.model.sha256, each.scores.tobytes().hex()) for each in subjects]


def test_the_same_seed_gives_the_same_bits_in_every_process(request):
    """One thread or two, another hash seed: not one digit may move."""
    root, two = request.config.rootpath, ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "2", "PYTHONPATH": str(root)}
    script = "from tests.models.test_baselines import bits; print(bits())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment | dict.fromkeys(two, "2"), capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert done.stdout == f"{bits()}\n"


@pytest.mark.parametrize("kind", ["forest", "mlp"])
def test_no_score_depends_on_the_order_of_features(make_data, people, kind):
    forth = ("age", "flag", "income", "job")
    one, other = (
        make_subject(make_data(people, features=features), ModelSpec(train=kind))
        for features in (forth, forth[::-1])
    )
    assert one.data.frame.index.tolist() == other.data.frame.index.tolist()
    assert one.scores.tolist() == other.scores.tolist()
    assert one.space.names == other.space.names


@pytest.mark.parametrize("kind", ["forest", "mlp"])
def test_training_leaves_the_global_generators_alone(data, kind):
    import torch

    np.random.seed(4)  # noqa: NPY002 - the very state that must not be touched
    torch.manual_seed(4)
    expected = np.random.random(), float(torch.rand(1))  # noqa: NPY002
    np.random.seed(4)  # noqa: NPY002
    torch.manual_seed(4)
    make_subject(data, ModelSpec(train=kind))
    assert (np.random.random(), float(torch.rand(1))) == expected  # noqa: NPY002


@pytest.mark.parametrize("kind", EVERY)
def test_missing_and_unseen_values_get_a_score(make_data, people, kind):
    frame = people.astype({"age": float, "job": object, "flag": float})
    frame.loc[frame.index[::7], "age"] = np.nan
    frame.loc[frame.index[::9], "job"] = None
    subject = make_subject(make_data(frame), ModelSpec(train=kind))
    odd = frame.head(4).copy()
    odd.loc[odd.index[0], "job"] = "astronaut"
    odd.loc[odd.index[1], ["age", "income"]] = np.nan
    odd.loc[odd.index[2], ["job", "flag"]] = [None, np.nan]
    scores = subject.favorable_score(odd)
    assert np.isfinite(scores).all()
    assert len(scores) == 4


@pytest.mark.parametrize("kind", ["boosting", "mlp"])
def test_dates_truth_values_and_constant_columns_are_read(make_data, people, kind):
    rng = np.random.default_rng(0)
    frame = people.assign(
        since=pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, len(people)), unit="D"),
        member=rng.random(len(people)) < 0.5,
        smoker=rng.choice(["no", "yes"], len(people)),
        same=1.0,
        empty=np.nan,
    )
    frame.loc[frame.index[3], "since"] = pd.NaT
    features = ("age", "since", "member", "smoker", "same", "empty")
    subject = make_subject(
        make_data(frame, features=features, kinds={"empty": "continuous"}), ModelSpec(train=kind)
    )
    assert np.isfinite(subject.scores).all()
    later = subject.data.frame.assign(member=~subject.data.frame["member"])
    assert not np.array_equal(subject.favorable_score(later), subject.scores)


@pytest.mark.parametrize("kind", KINDS)
def test_a_level_keeps_its_name_when_the_column_changes_type(make_data, people, kind):
    """Whole numbers turn to floats as soon as one is missing; that must not make them unseen levels."""
    data = make_data(people, kinds={"flag": "categorical"})
    model = train_baseline(data, kind)
    np.testing.assert_array_equal(model.score(people.astype({"flag": float})), model.score(people))


# ---- what is refused


@pytest.mark.parametrize(
    ("changed", "options", "refusal"),
    [
        ({"hired": 4}, {}, ("data", "396")),
        ({"hired": 6}, {}, ("data.test_size",)),
        ({}, {"label": None, "favorable": None}, ("data.label",)),
        (
            {},
            {"features": ("job",), "kinds": {"job": "text"}},
            ("data.features", "'job'"),
        ),
        ({"gap": np.nan}, {"features": ("gap",), "kinds": {"gap": "continuous"}}, ("data.features",)),
    ],
)
def test_data_that_nothing_can_be_learned_from_are_refused(make_data, people, changed, options, refusal):
    if isinstance(changed.get("hired"), int):  # so many are hired
        changed = {"hired": np.where(np.arange(len(people)) < changed["hired"], "yes", "no")}
    data = make_data(people.assign(**changed), **options)
    with refused(*refusal):
        make_subject(data, ModelSpec(train="boosting"), test_size=0.9 if "data.test_size" in refusal else 0.3)


def test_a_frame_without_a_column_is_refused(data):
    subject = make_subject(data, ModelSpec(train="logistic"))
    with refused("frame", "'job'"):
        subject.favorable_score(data.frame.drop(columns="job"))


def test_infinite_numbers_are_refused(data):
    model = train_baseline(data, "forest")
    with refused("column 'income'", "400"):
        model.score(data.frame.assign(income=np.inf))
