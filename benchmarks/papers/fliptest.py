"""FlipTest: its case studies through the whole audit (sections 5.1 to 5.4, Appendix B), and Figure 2.

    python -m benchmarks.papers fliptest [control] [law] [arrests] [lipton] [--gan SEEDS]
    python -m benchmarks.papers fliptest-figure-2 [maps …] [--draws 100] [--dimensions D …]

Without names all are run. ``--gan 3`` adds three trainings of the paper's GAN to lipton and control. The
paper's Strategic Subject List cannot be had.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from audits.data import DataSpec, FeatureSpace, build_data
from audits.models import Subject, make_subject, model_spec
from audits.transport import exact_coupling
from audits.transport.maps import MAPS
from benchmarks.measuring import Scorer, asked
from benchmarks.samples import arrests, hiring, law_school
from tests.flipset.conftest import audited

PEOPLE = 500  # a group, of Figure 2


def lipton(n: int = 10_000) -> Subject:
    """The hiring data of section 5.3 with the paper's model; features z-scored over both groups."""
    people, features, model = hiring.generate(n), ("work_years", "hair_length"), hiring.PUBLISHED[n]
    raw = people[[*features]]
    mean, sd = raw.mean().to_numpy(), raw.std(ddof=0).to_numpy()
    data = build_data(people, DataSpec(protected=("gender",), features=features))

    def margin(x: pd.DataFrame) -> np.ndarray:
        # standardized over the applicants, whoever is scored: an invented person must not shift the scale
        return ((x.to_numpy(dtype=float) - mean) / sd) @ np.array([model.work, model.hair]) - model.cut

    return Subject(data, Scorer(features, margin), np.nextafter(0.0, 1.0), FeatureSpace.fit(data))


def control(n: int = 10_000, *, trained: int = 6_000, seed: int = 0) -> Subject:
    """Appendix B: an RBF-SVM on random labels of three features that say nothing about the group."""
    from sklearn.svm import SVC

    rng = np.random.default_rng(seed)
    shift = np.repeat([1.0, -1.0], n)[:, None] * np.r_[np.zeros(3), np.ones(3)]
    x = rng.normal(size=(2 * n, 6)) + shift
    fitted = SVC(C=1.0, gamma="scale").fit(rng.normal(size=(trained, 3)), rng.integers(0, 2, trained))
    frame = pd.DataFrame(x, columns=[f"x{k}" for k in range(6)]).assign(group=["a"] * n + ["b"] * n)
    data = build_data(frame, DataSpec(protected=("group",), features=tuple(frame.columns[:6])))
    model = Scorer(("x0", "x1", "x2"), lambda people: fitted.predict(people.to_numpy()))
    return Subject(data, model, 0.5, FeatureSpace.fit(data))


def law(n: int = 5_000) -> Subject:
    """The law school of section 5.4 with a logistic regression that reads race, as the paper's does."""
    people, lives = law_school.generate(n)
    people = people.join(lives[[*law_school.OTHER_LIVES.values()]])
    people["upper"] = (people["fya"] > people["fya"].median()).astype(int)
    features = ("lsat", "gpa", "sex", "race")
    data = build_data(people, DataSpec(label="upper", favorable=1, protected=("race",), features=features))
    return make_subject(data, model_spec({"train": "logistic"}))


def rated(n: int = 10_000) -> Subject:
    """The geometric arrests of section 5.5: two tests that disagree."""
    spec = DataSpec(label="high_risk", favorable=0, protected=("group",), features=("prior_arrests",))
    data = build_data(arrests.generate(n), spec)
    return make_subject(data, model_spec({"predictions": {"label": "high_risk"}}))


def show(name: str, subject: Subject, **asked_for: Any) -> None:
    """Print both flipsets, both ways, and what the checks say; by chance and by causes if known."""
    result = audited(subject, **{"permutations": 0, **asked_for})
    back, checks, chance = result.reverse, result.validation, result.positive.expected_by_chance
    ways = "" if back is None else f"   back {back.positive_size:,.0f} / {back.negative_size:,.0f}"
    print(
        f"{name:<28} F+ {result.positive.size:>7,.1f}  F- {result.negative.size:>7,.1f}{ways}   worst KS "
        f"{max(checks.ks.values()):.3f}  cost {checks.distance:.3f} ({checks.exact_distance:.3f})  "
        f"{'trusted' if checks.trusted else 'NOT trusted'}",
        flush=True,
    )
    if chance is not None:
        print(f"{'':<28} by chance {chance.value:,.0f} ({chance.low:,.0f} to {chance.high:,.0f})")
    if (causal := result.causal) is not None:
        print(
            f"{'':<28} causal F+ {causal.positive.size:,.0f}  F- {causal.negative.size:,.0f}, the same of "
            f"{causal.agreement.value:.1%} of {result.n_source:,.0f}"
        )
    if result.disagreement:
        print(f"{'':<28} {result.disagreement}")


def by_maps(name: str, subject: Subject, gans: int = 0, **groups: Any) -> None:
    """Linear and entropic counterparts, and some trainings of the GAN."""
    for kind in ("linear", "entropic"):
        show(f"{name}, {kind}", subject, transport=kind, **groups)
    for seed in range(gans):
        show(f"{name}, GAN, seed {seed}", subject, transport="gan", reverse=False, rng=seed, **groups)


def main(*given: str) -> None:
    """Case studies through the whole audit."""
    chosen = asked(__doc__, given, words=["control", "law", "arrests", "lipton"], gan=0)
    if "control" in chosen.words:  # an exact coupling of few people flips more, and so says its noise floor
        groups = {"source": {"group": "a"}, "target": {"group": "b"}}
        by_maps("control", control(), chosen.gan, **groups)
        show("control, exact, 2,000", control(2_000), permutations=19, **groups)
    if "law" in chosen.words:  # transport beside the true counterfactuals
        races = {"source": {"race": "black"}, "target": {"race": "white"}}
        show("law school, exact", law(), **races, counterfactuals=law_school.OTHER_LIVES)
    if "arrests" in chosen.words:
        show("arrests, exact", rated(), source={"group": "north"}, target={"group": "south"})
    if "lipton" in chosen.words:
        subject, women, men = lipton(), {"gender": "female"}, {"gender": "male"}
        show("lipton women → men, exact", subject, source=women, target=men)
        show("lipton men → women, exact", subject, source=men, target=women)
        by_maps("lipton", subject, chosen.gan, source=women, target=men)


def counterparts(kind: str, d: int, seed: int) -> np.ndarray:
    """Counterparts (2, d) of the zero and the one vector, which lie in the sample drawn with `seed`."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, PEOPLE, d))
    x[0], x[1] = 0.0, 1.0
    if kind == "exact":
        return np.asarray(exact_coupling(x, y).average(y))[:2]
    return MAPS[kind].fit(x, y, rng=seed).transform(x[:2])


def figure_2(*given: str) -> None:
    """Variance of a counterpart over draws of the same distribution, 500 people a group.

    The counterpart of x should be x. Printed: the variance of the counterpart of the zero vector, per
    feature, and the mean of the counterpart of the one vector: 1 is right, less is regression to the mean.
    Both are people of every sample. gan and neural take half a minute a draw and dimension.
    """
    maps = ["exact", "entropic", "linear"]
    chosen = asked(__doc__, given, words=maps, draws=100, dimensions=[1, 2, 4, 8, 16])
    print(f"{'map':<10}{'d':>4}{'variance at 0':>16}{'mean at 1':>12}   of {chosen.draws} draws")
    for kind, d in product(chosen.words, chosen.dimensions):
        at = np.array([counterparts(kind, d, seed) for seed in range(chosen.draws)])  # (draws, 2, d)
        variance, mean = at[:, 0].var(axis=0, ddof=1).mean(), at[:, 1].mean()
        print(f"{kind:<10}{d:>4}{variance:>16.4f}{mean:>12.3f}", flush=True)


RUNS = {"fliptest": main, "fliptest-figure-2": figure_2}
