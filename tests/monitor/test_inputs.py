"""What comes in beside the people audited: ranges, units, missing values, repeats, other models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_spec
from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle
from audits.monitor.monitors import Monitors
from audits.monitor.profile import BatchContext
from audits.monitor.storage import Stored
from audits.sensitivity import SensitivityOptions, sensitivity
from tests.monitor.conftest import store_of
from tests.sensitivity.conftest import people


@pytest.fixture
def monitors(tmp_path) -> Monitors:
    return Monitors(store_of(tmp_path))


def send(monitors: Monitors, monitor, frame: pd.DataFrame, sent: BatchContext | None = None) -> Stored:
    scored = monitor.bundle.score(frame)
    batch = Batch(monitor.id, scored, "x", look=monitor.bundle.look(scored), sent=sent or BatchContext())
    [stored] = monitors.store([batch])
    assert isinstance(stored, Stored)
    return stored


def notes(bundle: MonitorBundle, frame: pd.DataFrame) -> str:
    look = bundle.look(bundle.score(frame))
    assert look is not None
    return " ".join(look.notes)


@pytest.mark.parametrize(
    ("column", "change", "told"),
    [
        ("height", lambda x: x * 12, ("12", "months", "years")),
        ("height", lambda x: x / 100, ("100", "percent")),
        ("height", lambda x: x.where(x.index > 5, 1e300), ("6 of 300", "1e+300")),
        ("height", lambda x: x.where(x.index > 5, -3.0), ("6 of 300",)),
        ("skill", lambda x: x.where(x.index > 30), ("31 of 300",)),
        ("town", lambda x: x.where(x.index > 3, "moon"), ("4 of 300",)),
    ],
)
def test_what_cannot_be_is_named(bundle: MonitorBundle, column: str, change, told: tuple[str, ...]):
    frame = people(300, seed=3)
    frame[column] = change(frame[column].astype(object if column == "town" else float))
    said = notes(bundle, frame)
    assert all(each in said for each in (column, *told)), said


def test_a_missing_share_that_grew_alarms_and_batches_may_be_cut_anywhere(monitors, bundle: MonitorBundle):
    frame = people(900, seed=7)
    frame.loc[::4, "skill"] = np.nan
    found = []
    for cuts in ([900], [1, 40, 859]):
        monitor, _ = monitors.create(bundle, name="m")
        start = 0
        for size in cuts:
            send(monitors, monitor, frame.iloc[start : start + size])
            start += size
        found.append([(alarm.about, alarm.person, alarm.times) for alarm in monitors.alarms(monitor.id)])
    assert found[0] == found[1]
    assert "inputs:skill" in {about for about, _, _ in found[0]}


def test_the_deployed_models_own_scores_are_held_against_the_bundles(monitors: Monitors, bundle):
    frame = people(400, seed=9)
    own = bundle.score(frame).score
    for sent, alarms in (
        (BatchContext(scores=tuple(own.round(3).tolist())), False),
        (BatchContext(scores=tuple((own**1.3).tolist())), True),
        (BatchContext(decisions=tuple((own >= 0.5).tolist())), False),
        (BatchContext(decisions=tuple((own >= 0.3).tolist())), True),
    ):
        monitor, _ = monitors.create(bundle, name="m")
        send(monitors, monitor, frame, sent)
        assert ("model" in {alarm.kind for alarm in monitors.alarms(monitor.id)}) == alarms


def test_a_person_counts_once_a_window(bundle: MonitorBundle, tmp_path):
    now = [1e9]
    monitors = Monitors(store_of(tmp_path), clock=lambda: now[0])
    monitor, _ = monitors.create(bundle, name="m", window_days=10)
    frame = people(50, seed=11)
    again = frame.iloc[np.repeat(np.arange(50), 5)]
    sent = BatchContext(persons=tuple(f"p{place // 5}" for place in range(250)))
    assert send(monitors, monitor, again, sent).counted == 50
    assert send(monitors, monitor, again, sent).counted == 0
    assert monitors.get(monitor.id).people == 500
    assert "repeats" not in {alarm.kind for alarm in monitors.alarms(monitor.id)}
    drift = monitors.drift(monitor.id)
    assert (drift.people, drift.flagged.n) == (50, 50)
    once, _ = monitors.create(bundle, name="m")
    send(monitors, once, frame)
    assert drift.p_value == monitors.drift(once.id).p_value
    now[0] += 11 * 86_400
    assert send(monitors, monitor, again, sent).counted == 50


def test_groups_and_outcomes_have_rates_that_hold_at_all_times(monitors: Monitors, bundle):
    monitor, _ = monitors.create(bundle, name="m")
    frame = people(1000, seed=12)
    scored = bundle.score(frame)
    groups = {"group": tuple(frame["group"])}
    ids = tuple(f"a{place}" for place in range(1000))
    look = bundle.look(scored)
    monitors.store([Batch(monitor.id, scored, "x", ids=ids, look=look, sent=BatchContext(protected=groups))])
    hired = dict(zip(ids, (frame["hired"] == 1).tolist(), strict=True))
    approved = [identity for identity, score in zip(ids, scored.score, strict=True) if score >= 0.5]
    first = monitors.learn(monitor.id, {identity: hired[identity] for identity in approved})
    assert all(each.true_positives.value is None for each in monitors.rates(monitor.id)), "all were approved"
    known = monitors.learn(monitor.id, {**hired, "nobody": True})
    assert (known.noted + first.noted, known.before, known.unknown) == (1000, first.noted, ("nobody",))
    again = monitors.learn(monitor.id, {"a0": hired["a0"], "a1": not hired["a1"]})
    assert (again.noted, again.before, again.otherwise) == (0, 1, ("a1",))
    rates = {each.group: each for each in monitors.rates(monitor.id)}
    decided = scored.score >= 0.5
    for name in "ab":
        mine = (frame["group"] == name).to_numpy()
        good = mine & (frame["hired"] == 1).to_numpy()
        own = rates[name]
        assert (own.people, own.outcomes) == (mine.sum(), mine.sum())
        assert own.selection.value == pytest.approx(decided[mine].mean())
        assert own.true_positives.value == pytest.approx(decided[good].mean())
        assert own.calibration.value == pytest.approx((good[mine] - scored.score[mine]).mean())
        assert own.selection.low < own.selection.value < own.selection.high
    gap = rates["b"].selection_gap
    assert gap.value == pytest.approx(rates["b"].selection.value - rates["a"].selection.value)
    assert gap.low > 0  # height decides, and tells the groups apart


def test_a_model_of_three_classes_is_compared_in_scores_alone(monitors: Monitors):
    """Its decision is its most probable class, which the probability of the favorable one does not tell."""
    spec = DataSpec(label="town", favorable="north", protected=("group",), features=("skill", "height"))
    model = model_spec({"train": "logistic", "predict": "label"})
    subject = make_subject(build_data(people(600, seed=14), spec), model, seed=0)
    assert subject.by_class
    own = MonitorBundle.of(sensitivity(subject, SensitivityOptions(bootstrap=100, match_set="off")))
    monitor, _ = monitors.create(own, name="m")
    frame = subject.data.frame
    assert ((own.score(frame).score >= 0.5) != subject.decisions).mean() > 0.05
    groups = {"group": tuple(frame["group"])}
    decided = BatchContext(decisions=tuple(subject.decisions.tolist()), protected=groups)
    send(monitors, monitor, frame, decided)
    assert monitors.alarms(monitor.id) == []
    send(monitors, monitor, frame, BatchContext(protected=groups))
    known = sum(each.selection.n for each in monitors.rates(monitor.id))
    assert known == len(frame), "those of whom no decision was sent have none"
