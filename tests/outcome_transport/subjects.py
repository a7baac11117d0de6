"""Real models, subjects and options that several of these tests share."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.checks import build
from audits.data import DataSpec, FeatureSpace, build_data
from audits.models import Subject, make_subject, model_spec
from audits.outcome_transport import OutcomeTransportOptions, OutcomeTransportResult, outcome_transport
from audits.progress import Progress, silent
from audits.recourse import RecourseOptions, RecourseResult, recourse


def flows_of(
    subject: Subject, *, rng: object = None, progress: Progress = silent, **options: object
) -> OutcomeTransportResult:
    """Audit with options as a spec names them."""
    asked = build(OutcomeTransportOptions, options, "outcome_transport")
    return outcome_transport(subject, asked, rng=rng, progress=progress)


def recourse_of(
    subject: Subject, *, rng: object = None, progress: Progress = silent, **options: object
) -> RecourseResult:
    """Audit with options as a spec names them."""
    asked = build(RecourseOptions, options, "recourse")
    return recourse(subject, asked, rng=rng, progress=progress)


A, B = {"group": "a"}, {"group": "b"}

QUICK = {"permutations": 19, "draws": 0}


class Softmax:
    """A real model of three classes, whose scores follow the column ``x``."""

    name, classes, columns, invents, sha256 = "softmax", ("low", "middle", "high"), ("x",), True, "0" * 64

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        logits = frame["x"].to_numpy()[:, None] * np.array([-1.0, 0.0, 1.0])
        return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


def three_classes() -> tuple[pd.DataFrame, Subject]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90).round(1), "group": rng.choice(["a", "b"], 90)})
    frame["label"] = np.select([frame["x"] > 0.6, frame["x"] > -0.4], ["high", "middle"], "low")
    data = build_data(frame, DataSpec(label="label", favorable="high", protected=("group",), features=("x",)))
    return frame, Subject(data, Softmax(), 0.5, FeatureSpace.fit(data), score_kind="probability")


def even(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Couple in order of outcome, each tie's mass spread evenly over its people."""
    levels = np.unique(np.concatenate([p, q]))
    up, down = (np.array([0, *[(v <= level).mean() for level in levels]]) for v in (p, q))
    plan = np.zeros((len(p), len(q)))
    for i, one in enumerate(levels):
        for j, other in enumerate(levels):
            mass = max(0.0, min(up[i + 1], down[j + 1]) - max(up[i], down[j]))
            mine, yours = p == one, q == other
            if mass > 0:
                plan[np.ix_(mine, yours)] = mass / (mine.sum() * yours.sum())
    return plan


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
        kinds={name: "continuous" for name in ("x", "a", "b", "c") if name in frame},
        features=tuple(name for name in frame.columns if name not in {"group", "weight"}),
        roles={"actionable": actionable, "mutable": (), "immutable": ()},
        **data,
    )
    built = build_data(frame, spec)
    return Subject(built, model, 0.5, FeatureSpace.fit(built), score_kind="probability")


def mixed(n: int = 120, seed: int = 0) -> Subject:
    rng = np.random.default_rng(seed)
    children, age = rng.integers(0, 6, n), rng.integers(20, 70, n)
    job, money = rng.choice(["none", "clerk", "judge"], n), rng.normal(size=n).round(2)
    frame = pd.DataFrame({"children": children, "age": age, "job": job, "money": money})
    frame["group"] = rng.choice(["a", "b"], n)
    total = frame["money"] + 0.5 * (frame["job"] == "judge") - 0.2 * frame["children"] + 0.02 * frame["age"]
    frame["label"] = (total + rng.normal(size=n) * 0.3 > total.median()).astype(int)
    names = ("children", "age", "job", "money")
    roles = {"actionable": names, "mutable": (), "immutable": ()}
    spec = DataSpec(label="label", favorable=1, protected=("group",), features=names, roles=roles)
    return make_subject(build_data(frame, spec), model_spec({"train": "logistic"}), test_size=0.6)
