"""Several ways for rejected people against DiCE in the same process: validity, cost, columns changed, time.

    pip install --target FOLDER --no-deps dice-ml raiutils
    PYTHONPATH=FOLDER python -m benchmarks.recourse_ways [PEOPLE]

Both are asked for three ways for each person, of the same logistic regression on Adult, with the same columns
that may change. DiCE's two model-agnostic methods: random sampling, and its genetic algorithm. Costs are ours
for both: standard deviations, and 1 for another category. Of 15 people, on two busy cores: all ways accepted
by either; mean cost of the cheapest 0.76 in 1.6 s, DiCE's random sampling 4.20 in 105 s.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from audits.data import load_data
from audits.data.public import public_section
from audits.data.spec_parser import data_spec
from audits.models import ModelSpec, Subject, make_subject
from audits.recourse.actions import actions_of
from audits.recourse.alternatives import find_ways
from audits.recourse.audit import _sides
from audits.recourse.options import RecourseOptions
from audits.recourse.paths import RecoursePath
from audits.transport import exact_coupling

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
CHANGED = ("education", "occupation", "hours-per-week", "capital-gain", "workclass")
FEATURES = [*CHANGED, "age"]
WAYS = 3


class Scored:
    """The subject as scikit-learn would see it, for DiCE."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.frame = subject.data.frame[FEATURES]

    def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
        frame = rows[FEATURES].copy()
        for name in FEATURES:
            frame[name] = frame[name].astype(self.frame[name].dtype)
        scores = self.subject.favorable_score(frame)
        return np.column_stack([1 - scores, scores])

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        return (self.predict_proba(rows)[:, 1] >= 0.5).astype(int)


def described(
    name: str, cost: np.ndarray, valid: float, columns: float, helped: float, seconds: float
) -> None:
    print(
        f"{name}: {100 * helped:.0f}% of people with a way, {100 * valid:.0f}% of ways accepted, mean cost "
        f"of the cheapest {np.mean(cost):.2f}, {columns:.1f} columns changed, {seconds:.1f} s"
    )


def main(people: int) -> None:
    section = public_section("adult", SHARED)
    section |= {"path": str(SHARED / "adult.data"), "features": FEATURES}
    section.pop("roles", None)
    data = load_data(data_spec(section))
    data = data.take(np.flatnonzero(data.frame[FEATURES].notna().all(axis=1).to_numpy()))
    subject = make_subject(data, ModelSpec(train="logistic"), test_size=0.1)
    options = RecourseOptions(
        actionable=CHANGED, ways=WAYS, ways_people=people, refits=0, noise=0.0, max_people=people
    )
    actions, _ = actions_of(subject, options)
    rejected, accepted = _sides(subject, options, np.random.default_rng(0))
    encoded = actions.space.encode(subject.data.frame)
    start = time.perf_counter()
    coupling = exact_coupling(
        subject.scores[rejected.positions, None], subject.scores[accepted, None], cost="l2_squared"
    )
    goal = coupling.average(encoded[accepted])
    way = RecoursePath(subject, options, actions, rejected, accepted, encoded[rejected.positions], goal)
    ours = find_ways(way, np.random.default_rng(0))
    seconds = time.perf_counter() - start
    _, first = np.unique(ours.person, return_index=True)
    described("ours", ours.cost[first], 1.0, ours.changed.sum(1).mean(), len(first) / people, seconds)
    with_dice(way)


def with_dice(way: RecoursePath) -> None:
    import dice_ml

    subject = way.subject
    numbers = ["hours-per-week", "capital-gain", "age"]
    known = subject.data.frame[FEATURES].copy()
    for name in FEATURES:
        known[name] = known[name].astype(float if name in numbers else str)
    table = dice_ml.Data(
        dataframe=known.assign(outcome=subject.decisions.astype(int)),
        continuous_features=numbers,
        outcome_name="outcome",
    )
    model = dice_ml.Model(model=Scored(subject), backend="sklearn")
    for method in ("random", "genetic"):
        explainer = dice_ml.Dice(table, model, method=method)
        start = time.perf_counter()
        costs, valid, columns, helped = [], [], [], 0
        for place in range(len(way.people.positions)):
            query = known.iloc[[way.people.positions[place]]]
            found = _asked(explainer, query, method)
            if found is None or found.empty:
                continue
            helped += 1
            rows = found[FEATURES].reset_index(drop=True)
            valid.append(Scored(subject).predict(rows).mean())
            today = pd.concat([way.today.iloc[[place]]] * len(rows), ignore_index=True)
            moved = today.assign(**{name: rows[name].astype(today[name].dtype) for name in CHANGED})
            costs.append(way.actions.cost(*map(way.actions.space.encode, (today, moved))).min())
            columns.append((moved.astype(str) != today.astype(str)).sum(axis=1).mean())
        seconds = time.perf_counter() - start
        described(
            f"DiCE {method}",
            costs,
            np.mean(valid),
            np.mean(columns),
            helped / len(way.people.positions),
            seconds,
        )


def _asked(explainer: object, query: pd.DataFrame, method: str) -> pd.DataFrame | None:
    from raiutils.exceptions import UserConfigValidationException

    more = {"random_seed": 0} if method == "random" else {}
    try:
        made = explainer.generate_counterfactuals(
            query, total_CFs=WAYS, desired_class=1, features_to_vary=list(CHANGED), verbose=False, **more
        )
    except UserConfigValidationException:  # it found none
        return None
    return made.cf_examples_list[0].final_cfs_df


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
