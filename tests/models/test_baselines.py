"""Models trained here: against numbers worked by hand, across processes, and on odd columns."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from audits.models import ModelSpec, make_subject
from audits.models.trained.baselines import train_baseline
from tests.models.conftest import audit_data, make_people
from tests.refused import refused

EVERY = ["logistic", "forest", "boosting", "mlp"]


def test_logistic_minimises_the_ridge_penalised_likelihood_of_scaled_numbers_and_levels(data):
    """The same optimum found by another optimiser from the formula: C = 1, intercept free."""
    frame, model = data.frame, train_baseline(data, "logistic")
    columns = [(frame[name] - frame[name].mean()) / frame[name].std(ddof=0) for name in ("age", "income")]
    columns += [frame["flag"] == flag for flag in (0, 1)]
    columns += [frame["job"] == job for job in ("cook", "judge", "nurse")]
    x = np.column_stack([np.asarray(column, dtype=float) for column in columns])
    sign = np.where(data.y, 1.0, -1.0)

    def loss(theta):
        return np.logaddexp(0, -sign * (x @ theta[1:] + theta[0])).sum() + 0.5 * theta[1:] @ theta[1:]

    best = minimize(loss, np.zeros(x.shape[1] + 1), method="BFGS", options={"gtol": 1e-6, "maxiter": 2000})
    expected = 1 / (1 + np.exp(-(x @ best.x[1:] + best.x[0])))
    np.testing.assert_allclose(model.score(frame), expected, atol=1e-4)  # both stop at a small gradient
    assert model.columns == ("age", "income", "job", "flag")


def test_a_row_of_count_two_weighs_as_two_rows(people):
    frame = people.head(60).assign(count=np.random.default_rng(0).integers(1, 5, 60))
    weighted = train_baseline(audit_data(frame, weights="count"), "logistic")
    repeated = frame.loc[frame.index.repeat(frame["count"])].drop(columns="count").reset_index(drop=True)
    expanded = train_baseline(audit_data(repeated), "logistic")
    # both stop where the gradient is below 1e-6 of a sum over up to 240 people
    np.testing.assert_allclose(weighted.score(frame), expanded.score(frame), atol=1e-3)


def test_counts_move_the_network_towards_the_many(people):
    """The same people, once with the hired counting ten times: scores must rise."""
    from audits.models.trained.mlp import train_mlp

    few = people.head(120)
    counted = few.assign(count=np.where(few["hired"] == "yes", 10, 1))
    weighted = train_mlp(audit_data(counted, weights="count"))
    assert (weighted.score(few) > train_mlp(audit_data(few)).score(few)).mean() > 0.9


@pytest.mark.parametrize("kind", EVERY)
def test_every_kind_learns_what_is_there_and_scores_what_it_never_saw(people, kind):
    """Hired is who is 50 or older, or, where the age is missing, a member, up to 5% of noise."""
    rng, n = np.random.default_rng(1), len(people)
    member = rng.random(n) < 0.5
    frame = people.astype({"age": float, "job": object, "flag": float}).assign(
        since=pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
        member=member, same=1.0, empty=np.nan,
    )  # fmt: skip
    frame.loc[frame.index[::4], "age"] = np.nan
    frame.loc[frame.index[::9], "job"] = None
    frame.loc[frame.index[3], "since"] = pd.NaT
    good = np.where(frame["age"].isna(), member, frame["age"] >= 50) ^ (rng.random(n) < 0.05)
    features = ("age", "income", "job", "flag", "since", "member", "same", "empty")
    frame["hired"] = np.where(good, "yes", "no")
    data = audit_data(frame, features=features, kinds={"empty": "continuous"})
    subject = make_subject(data, ModelSpec(train=kind), seed=3)
    assert (subject.decisions == subject.data.y).mean() > 0.78
    assert ((subject.scores >= 0) & (subject.scores <= 1)).all()
    odd = subject.data.frame.head(3).copy()
    odd.loc[odd.index[0], "job"] = "astronaut"
    odd.loc[odd.index[1], ["age", "income"]] = np.nan
    odd.loc[odd.index[2], ["job", "flag"]] = [None, np.nan]
    assert np.isfinite(subject.favorable_score(odd)).all()
    turned = subject.data.frame.assign(member=~subject.data.frame["member"])
    assert not np.array_equal(subject.favorable_score(turned), subject.scores)


def test_the_held_out_people_are_not_trained_on(data):
    subject = make_subject(data, ModelSpec(train="logistic"), test_size=0.25, seed=5)
    assert subject.training is not None
    held, trained = set(subject.data.frame.index), set(subject.training.frame.index)
    assert not held & trained
    assert held | trained == set(data.frame.index)
    assert abs(len(held) - 100) <= 1
    assert any(f"{len(trained):,} people" in note for note in subject.notes)


def bits() -> tuple[str, str]:
    """Return the digest and the scores of a forest, trained anew."""
    subject = make_subject(audit_data(make_people(120)), ModelSpec(train="forest"), seed=7)
    return subject.model.sha256, subject.scores.tobytes().hex()


def test_the_same_seed_gives_the_same_bits_in_every_process(request):
    """One thread or two, another hash seed: not one digit may move."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "2", "PYTHONPATH": str(request.config.rootpath)}
    two = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    script = "from tests.models.test_baselines import bits; print(bits())"
    told = {"env": environment | two, "capture_output": True, "text": True, "check": True, "timeout": 300}
    assert subprocess.run([sys.executable, "-c", script], **told).stdout == f"{bits()}\n"


@pytest.mark.parametrize("kind", ["forest", "mlp"])
def test_neither_the_order_of_features_nor_the_global_generators_play_a_part(people, kind):
    import torch

    def drawn(features=None):
        np.random.seed(4)  # noqa: NPY002 - the very state that must not be touched
        torch.manual_seed(4)
        data = audit_data(people.head(120), features=features or ("age",))
        made = features and make_subject(data, ModelSpec(train=kind))
        return made, (np.random.random(), float(torch.rand(1)))  # noqa: NPY002

    forth = ("age", "flag", "income", "job")
    (one, after), (other, _) = drawn(forth), drawn(forth[::-1])
    assert after == drawn()[1]
    assert one.data.frame.index.tolist() == other.data.frame.index.tolist()
    assert one.scores.tolist() == other.scores.tolist()
    assert one.space.names == other.space.names


@pytest.mark.parametrize(
    ("changed", "options", "refusal"),
    [
        ({"hired": 4}, {}, ("data", "396")),
        ({"hired": 6}, {}, ("data.test_size",)),
        ({}, {"label": None, "favorable": None}, ("data.label",)),
        ({}, {"features": ("job",), "kinds": {"job": "text"}}, ("data.features", "'job'")),
        ({"gap": np.nan}, {"features": ("gap",), "kinds": {"gap": "continuous"}}, ("data.features",)),
    ],
)
def test_data_that_nothing_can_be_learned_from_are_refused(people, changed, options, refusal):
    if "hired" in changed:  # so many are hired
        changed = {"hired": np.where(np.arange(len(people)) < changed["hired"], "yes", "no")}
    data, test_size = (
        audit_data(people.assign(**changed), **options),
        0.9 if "test_size" in refusal[0] else 0.3,
    )
    with refused(*refusal):
        make_subject(data, ModelSpec(train="boosting"), test_size=test_size)


def test_a_frame_without_a_column_or_with_infinite_numbers_is_refused(data):
    subject = make_subject(data, ModelSpec(train="logistic"))
    with refused("frame", "'job'"):
        subject.favorable_score(data.frame.drop(columns="job"))
    with refused("column 'income'", "400"):
        subject.favorable_score(data.frame.assign(income=np.inf))
