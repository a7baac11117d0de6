"""How often `explain` finds what is not there, clears what is, and how its intervals cover.

Worlds of 1 to 8 explaining columns, linear and not, with and without a rule that decides everybody, in which
nothing is left; and worlds in which something is: hidden by a better group, cancelling between levels, or as
large as the limit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from audits.data import DataSpec, build_data
from audits.explain.attribution import attribution
from audits.models.subject import subject_of
from audits.progress import silent
from audits.stats import EVIDENCE, NO_MATERIAL
from benchmarks.calibration import LEVEL, Facts, alarm, covers, found, inside
from benchmarks.measuring import Scorer
from tests.explain.test_explain import audited, cancelling, crowd, masked, rule_of  # noqa: F401  (settings)

_LEFT = "left with all columns, on average"


def _framed(columns: pd.DataFrame, source: np.ndarray, yes: np.ndarray) -> pd.DataFrame:
    return columns.assign(group=np.where(source, "a", "b"), decision=np.asarray(yes).astype(int))


def _rare(n: int, seed: int) -> pd.DataFrame:
    frame = crowd(n, seed, noise=0)
    chance = 0.04 * (0.2 + 0.3 * frame["department"].astype(int))
    return frame.assign(decision=(np.random.default_rng([seed, n]).random(n) < chance).astype(int))


def _drawn(
    n: int, columns: int, shift: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Normal columns, of the first `n` people `shift` further up, who those are, and what draws the rest."""
    rng, source = np.random.default_rng(seed), np.repeat([True, False], n)
    return rng.normal(size=(2 * n, columns)) + shift * source[:, None], source, rng


def _numbers(n: int, columns: int, shift: float, rule: str, seed: int) -> pd.DataFrame:
    """People decided by a rule of their columns, or with the chance that it gives."""
    x, source, rng = _drawn(n, columns, shift, seed)
    chance = _RULES[rule](x, source)
    yes = chance if chance.dtype == bool else rng.random(2 * n) < chance
    return _framed(pd.DataFrame(x).add_prefix("x"), source, yes)


_RULES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "logistic": lambda x, _: 0.2 + 0.6 * expit(x.sum(axis=1)),
    "lower": lambda x, source: 0.2 + 0.6 * expit(x.sum(axis=1)) - 0.1 * source,
    "curved": lambda x, _: expit(2 * np.abs(x[:, 0]) - 2 + x[:, 1] * x[:, 2]),
    "boxes": lambda x, _: ((x[:, 0] > 0.3) & (x[:, 1] > -0.2)) | (x[:, 2] > 1),
}


def _binary(seed: int) -> pd.DataFrame:
    _, source, rng = _drawn(1000, 1, 0.0, seed)
    x = rng.random((2000, 5)) < np.where(source, 0.6, 0.4)[:, None]
    return _framed(pd.DataFrame(x.astype(int)).add_prefix("x"), source, x.sum(axis=1) >= 3)


def _categories(n: int, seed: int) -> pd.DataFrame:
    _, source, rng = _drawn(n, 1, 0.0, seed)
    rising = np.array([0.1, 0.2, 0.3, 0.4])
    often, seldom = rng.choice(4, (2 * n, 2), p=rising[::-1]), rng.choice(4, (2 * n, 2), p=rising)
    x = np.where(source[:, None], often, seldom)
    return _framed(pd.DataFrame(x).add_prefix("x").map("c{}".format), source, x.sum(axis=1) >= 3)


def _hiring(n: int, seed: int) -> pd.DataFrame:
    x, source, rng = _drawn(n, 2, 0.5, seed)
    work, gap = rng.choice(["none", "some", "much"], 2 * n), rng.random(2 * n) < 0.3 + 0.2 * source
    chance = expit(-0.5 + x[:, 0] + 0.8 * x[:, 1] + 0.5 * (work == "some") - 0.7 * gap)
    columns = pd.DataFrame({"test": x[:, 0], "grade": x[:, 1], "work": work, "gap": gap.astype(int)})
    return _framed(columns, source, rng.random(2 * n) < chance)


def _jump(n: int, seed: int) -> pd.DataFrame:
    """Group and decision hang on the sign of a product."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    sign = np.sign(x[:, 0] * x[:, 1])
    source = rng.random(n) < expit(1.2 * sign - 0.3)
    return _framed(pd.DataFrame(x).add_prefix("x"), source, rng.random(n) < expit(1.5 * sign))


def _mixed(n: int, seed: int) -> pd.DataFrame:
    x, source, rng = _drawn(n, 5, 0.3, seed)
    x[rng.random(x.shape) < 0.1] = np.nan
    seen, town = np.nan_to_num(x), rng.choice(["u", "v", "w"], 2 * n)
    flags = (rng.random((2 * n, 2)) < 0.4 + 0.1 * source[:, None]).astype(int)
    chance = expit(seen[:, 0] + seen[:, 1] * seen[:, 2] + (town == "u") - flags[:, 0] + 0.5 * seen[:, 3])
    columns = pd.DataFrame(x).add_prefix("x").assign(town=town, first=flags[:, 0], second=flags[:, 1])
    return _framed(columns, source, rng.random(2 * n) < chance)


def _world(drawn: dict[str, Any], truth: float | None = 0.0, *, number: int) -> Facts:
    """People drawn by a function that is named; `truth` is left of the gap."""
    of = dict(drawn)
    told = audited(globals()[of.pop("of")](seed=number, **of), rng=number)
    left = told.together.unexplained
    evident = told.verdict == EVIDENCE
    yield found(EVIDENCE, evident, no_difference=truth == 0.0)
    if truth != 0.0:
        yield alarm(NO_MATERIAL, told.verdict == NO_MATERIAL)
    if truth is not None:
        yield covers(_LEFT, left.low is None or inside(left, truth))


_SCORE = Scorer(
    ("a", "b", "c"), lambda of: expit(of["a"] + 0.5 * of["b"] + of["a"] * of["b"] + 0.3 * of["c"])
)


def _features(n: int, rng: np.random.Generator) -> pd.DataFrame:
    further = np.repeat([[0.6, 0.3, 0.0], [0.0] * 3], n, 0)
    return pd.DataFrame(rng.normal(size=(2 * n, 3)) + further, columns=list("abc"))


@cache
def _parts_of_gap() -> dict[str, float]:
    """Return Shapley's value of the features over all pairs of people, by every coalition."""
    n = 400_000
    frame = _features(n, np.random.default_rng(0))
    sides = frame.iloc[:n].reset_index(drop=True), frame.iloc[n:].reset_index(drop=True)

    def worth(chosen: tuple[str, ...]) -> float:
        mixed = {name: sides[0 if name in chosen else 1][name] for name in "abc"}
        return float(_SCORE.score(pd.DataFrame(mixed)).mean())

    found = dict.fromkeys("abc", 0.0)
    for order in permutations("abc"):
        for place, name in enumerate(order):
            found[name] += (worth(order[: place + 1]) - worth(order[:place])) / 6
    return found


def _attributed(n: int, number: int) -> Facts:
    """Every feature's part of a gap in mean score, and all of them together."""
    rng = np.random.default_rng([number, n])
    frame = _features(n, rng).assign(group=np.repeat(["s", "t"], n), y=np.arange(2 * n) % 2)
    spec = DataSpec(label="y", favorable=1, protected=("group",), features=("a", "b", "c"))
    subject = subject_of(build_data(frame, spec), _SCORE, threshold=0.5, score_kind="probability")
    side = (frame["group"] == "s").to_numpy().astype(int)
    told = attribution(subject, side, level=3 * LEVEL, rng=rng, progress=silent)  # each alone at the level
    for each in told.features:
        yield covers("a feature's part of a gap in mean score", each.part, _parts_of_gap()[each.feature])
