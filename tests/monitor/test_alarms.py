"""What alarms, what does not, and how long an alarm lasts, in worlds whose every change is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.errors import InputError
from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle
from audits.monitor.monitors import Monitors, StoredMonitor
from audits.monitor.profile import BatchContext
from audits.monitor.recoding import with_values
from audits.monitor.replay import replay
from audits.runs.execute import prepared_subject
from audits.runs.spec import parse_spec
from audits.sensitivity.monitor.reference import beside_others
from tests.monitor.conftest import store_of


def world(rng: np.random.Generator, n: int) -> pd.DataFrame:
    x = rng.normal(size=n)
    score = 1 / (1 + np.exp(-x - rng.normal(size=n)))
    good, sex = (rng.random(n) < score).astype(int), rng.choice(["f", "m"], n)
    return pd.DataFrame({"x": x, "age": rng.integers(18, 70, n), "score": score, "good": good, "sex": sex})


def bundle_of(
    folder: Path, frame: pd.DataFrame, model: dict[str, Any], *, threshold: float | None = None, **data: Any
) -> MonitorBundle:
    frame.to_csv(folder / "reference.csv", index=False)
    usual = {"path": "reference.csv", "label": "good", "protected": ["sex"], "features": ["x", "age"]}
    document = {"data": {**usual, "favorable": 1, **data}, "model": {"predictions": model}}
    document |= {} if threshold is None else {"threshold": threshold}
    spec = parse_spec({**document, "audits": ["groups"]}, folder)
    return with_values(MonitorBundle.of_predictions(prepared_subject(spec)), spec.to_dict()["data"])


def send(monitors: Monitors, monitor: StoredMonitor, frame: pd.DataFrame, **groups: str) -> None:
    """Send people a thousand at a time, with their scores; `groups` are attributes and their columns."""
    for start in range(0, len(frame), 1000):
        part = frame.iloc[start : start + 1000]
        known = part.astype(object).where(part.notna(), None)
        protected = {name: tuple(known[column]) for name, column in groups.items()}
        sent = BatchContext(tuple(part["score"]), protected=protected)
        monitors.store([Batch.of(monitor.id, monitor.bundle, monitor.bundle.score(part), sent)])


def test_scores_that_fall_alarm_beside_an_alarm_that_somebody_knows(tmp_path):
    """Wrong values move scores; once somebody knows of them, or after long, scores that move are news."""
    rng = np.random.default_rng(0)
    bundle = bundle_of(tmp_path, world(rng, 1000), {"score": "score"})
    monitors = Monitors(store_of(tmp_path))
    monitor, _ = monitors.create(bundle, name="m")
    frame = world(rng, 3500)
    frame.loc[rng.random(3500) < 0.05, "age"] = -1
    send(monitors, monitor, frame.iloc[:1500])
    [known] = monitors.alarms(monitor.id)
    assert known.kind == "impossible"
    monitors.acknowledge(monitor.id, known.place, "")
    send(monitors, monitor, frame.iloc[1500:].assign(score=0.4 * frame["score"]))
    found = {alarm.kind: alarm for alarm in monitors.alarms(monitor.id)}
    assert found.keys() == {"impossible", "scores", "decisions"}
    assert 1500 < found["scores"].person < 1700
    assert found["impossible"].times < 20, "what is found of scores is not found of ages"


def jobs(rng: np.random.Generator, n: int) -> dict[str, Any]:
    weights = 1 / np.arange(1, 3001) ** 1.5
    return {"x": [f"j{job}" for job in rng.choice(3000, n, p=weights / weights.sum())]}


@pytest.mark.parametrize(
    "drawn",
    [
        lambda rng, n: {"sex": np.where(rng.random(n) < 0.1, None, rng.choice(["f", "m"], n))},
        lambda rng, n: {"sex": rng.choice(list("abcdef"), n, p=[0.5, 0.4, 0.025, 0.025, 0.025, 0.025])},
        jobs,
        lambda rng, n: {f"x{place}": rng.pareto(0.4, n) for place in range(20)},
        lambda rng, n: {"x": rng.integers(0, 4, n), "age": rng.integers(0, 4, n)},
    ],
    ids=["missing", "small groups", "rare jobs", "heavy tails", "few values"],
)
def test_a_world_that_does_not_change_does_not_alarm(drawn, tmp_path):
    rng = np.random.default_rng(3)
    reference, later = (world(rng, n).assign(**drawn(rng, n)) for n in (1000, 6000))
    features = [name for name in reference if name.startswith(("x", "age"))]
    bundle = bundle_of(tmp_path, reference, {"score": "score"}, features=features)
    monitors = Monitors(store_of(tmp_path))
    monitor, _ = monitors.create(bundle, name="m")
    send(monitors, monitor, later, sex="sex")
    assert monitors.alarms(monitor.id) == []


def test_people_of_the_reference_lie_where_fits_without_them_put_them():
    x, places = np.random.default_rng(0).normal(size=(20, 2)) + 1.0, []
    for place, own in enumerate(x):
        one, other = np.delete(x, place, axis=0).T
        places.append(own[0] - np.polyfit(other, one, 1)[0] * own[1])
    known = beside_others(x, 0, np.ones(20))
    assert (known["low"], known["high"]) == pytest.approx((min(places), max(places)))


def test_a_group_that_the_audit_never_had_alarms(tmp_path):
    rng = np.random.default_rng(4)
    monitors = Monitors(store_of(tmp_path))
    monitor, _ = monitors.create(bundle_of(tmp_path, world(rng, 1000), {"score": "score"}), name="m")
    later = world(rng, 1000)
    later.loc[rng.random(1000) < 0.1, "sex"] = "new"
    send(monitors, monitor, later, sex="sex")
    assert "groups:sex:shares of the groups:share" in {each.about for each in monitors.alarms(monitor.id)}


def test_rows_of_one_person_or_with_weights_are_as_many_people_as_they_speak_for(tmp_path):
    rng = np.random.default_rng(5)
    score = {"score": "score"}
    rows = world(rng, 60).loc[np.repeat(np.arange(60), 20)].assign(who=np.repeat(np.arange(60), 20))
    assert bundle_of(tmp_path, rows, score, person="who").profile.plain["people"] == 60
    frame = world(rng, 1000)
    sampled = frame.assign(weight=np.where(frame["sex"] == "f", 9.0, 1.0))
    weights = {"column": "weight", "kind": "sampling"}
    known = bundle_of(tmp_path, sampled, score, weights=weights).profile.plain
    women = (frame["sex"] == "f").sum()
    total = 9 * women + (1000 - women)
    assert known["people"] == pytest.approx(total**2 / (81 * women + (1000 - women)))
    assert known["groups"]["sex"]["f"]["people"] / known["people"] == pytest.approx(9 * women / total)
    frame = frame.round({"x": 0, "score": 1}).assign(age=frame["age"] // 9)
    counted = bundle_of(tmp_path, frame.value_counts().reset_index(name="n"), score, weights="n")
    alone = bundle_of(tmp_path, frame, score).profile.plain["joint"]
    assert [each["counts"] for each in alone] == [each["counts"] for each in counted.profile.plain["joint"]]
    rows["weight"] = 1.0
    with pytest.raises(InputError) as refused:
        bundle_of(tmp_path, rows, score, weights={**weights, "cluster": "who"})
    assert refused.value.where == "data"


@pytest.mark.parametrize(("worse", "ids", "alarms"), [(0, "all", 0), (0.3, "all", 1), (0, "approved", 0)])
def test_good_outcomes_that_come_late_do_not_seem_rare(worse, ids, alarms, tmp_path):
    """Nor do those approved whose ids alone are sent."""
    rng = np.random.default_rng(6)
    monitors = Monitors(store_of(tmp_path))
    monitor, _ = monitors.create(bundle_of(tmp_path, world(rng, 1000), {"score": "score"}), name="m")
    frame = world(rng, 3000)
    good = frame["good"].eq(1) & (rng.random(3000) >= worse)
    for start in range(0, 4000, 100):  # a bad outcome is known at once, a good one 1000 people later
        part = frame.iloc[start : start + 100]
        sent = BatchContext(tuple(part["score"]), protected={"sex": tuple(part["sex"])})
        named = part["score"].ge(0.5) | (ids == "all")
        more = {"ids": tuple(map(str, part.index.where(named, "")))}
        if len(part):
            monitors.store([Batch.of(monitor.id, monitor.bundle, monitor.bundle.score(part), sent, **more)])
        here = np.arange(3000) // 100 * 100
        known = (good & (here == start - 1000)) | (~good & (here == start))
        if known.any():
            monitors.learn(monitor.id, {str(person): bool(good[person]) for person in frame.index[known]})
    found = {each.about for each in monitors.alarms(monitor.id)}
    assert any(about.startswith("outcomes") for about in found) == alarms
    assert any(about.endswith("calibration") for about in found) == alarms
    noted = sum(each.outcomes for each in monitors.rates(monitor.id))
    assert noted > (2500 if ids == "all" else 1000)


def test_an_alarm_lasts_as_long_as_its_group_is_treated_worse(tmp_path):
    rng = np.random.default_rng(8)

    def part(n: int, worse: float) -> pd.DataFrame:
        frame = world(rng, n)
        frame["sex"] = np.where(rng.random(n) < 0.2, "f", "m")
        frame.loc[(frame["sex"] == "f") & (rng.random(n) < worse), "score"] *= 0.4
        return frame

    monitors = Monitors(store_of(tmp_path))
    monitor, _ = monitors.create(bundle_of(tmp_path, part(1000, 0), {"score": "score"}), name="m")
    lasts = []
    for n, worse in ((3000, 0.0), (15_000, 0.7), (18_000, 0.0)):
        for _ in range(n // 3000):
            send(monitors, monitor, part(3000, worse), sex="sex")
            women = [each for each in monitors.alarms(monitor.id) if each.about == "groups:sex:f:selection"]
            lasts.append([each.lasts for each in women])
    assert lasts == [[], *[[True]] * 7, *[[False]] * 4]


@pytest.mark.parametrize("worse", ["risk", "points"])
def test_a_table_of_scores_that_are_no_chances_is_replayed_by_its_decisions(worse, tmp_path):
    rng = np.random.default_rng(10)
    frame, later = (world(rng, n).assign(risk=lambda people: 1 - people["score"]) for n in (1000, 2000))
    frame["points"], later["points"] = 900 * frame["score"], 900 * later["score"]
    model = {"score": worse} | ({"higher_is": "unfavorable"} if worse == "risk" else {})
    bundle = bundle_of(tmp_path, frame, model, threshold=0.5 if worse == "risk" else 450)
    sent = bundle.sent_of(later.assign(risk=later["risk"].where(later.index > 0)))
    assert sent.scores == ()
    assert list(sent.decisions[1:]) == (later["score"] > 0.5).tolist()[1:]
    assert (sent.decisions[0] is None) == (worse == "risk")
    for times, alarms in ((1, set()), (0.6, {"decisions"})):
        part = later.assign(points=times * later["points"], risk=1 - times * later["score"])
        found = replay(bundle, [Batch.of("", bundle, bundle.score(part), bundle.sent_of(part))])
        assert {each.kind for each in found.alarms} - {"groups"} == alarms
