"""The sensitivity audit: check, train A, measure, compare with the twin, cross-fit, pack."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from audits.checks import check_options, generator
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.records import says_what_it_lacks
from audits.sensitivity.assembly import distances, pack
from audits.sensitivity.match_sets.counterfactual_model import (
    check_known,
    decided_otherwise,
    metrics_of,
    train_twins,
)
from audits.sensitivity.match_sets.sets import MatchSet, match_set
from audits.sensitivity.measurement.crossfit import cross_fit
from audits.sensitivity.measurement.gradients import Measured
from audits.sensitivity.measurement.setup import (
    MeasurementSetup,
    attributes_of,
    choose_people,
    measure_by,
    train_models,
)
from audits.sensitivity.options import SensitivityOptions
from audits.sensitivity.result import SensitivityResult


@says_what_it_lacks
def sensitivity(
    subject: Subject,
    options: SensitivityOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> SensitivityResult:
    """Would this prediction have been another, had the person belonged to another group?

    Parameters
    ----------
    subject : Subject
        Data with protected attributes, and a model that can score people who do not exist.
    options : SensitivityOptions
        What was chosen; bounds are checked here again.
    rng : Generator, int or None
        Training of A and of the twin, draws of the bootstrap and of a subsample; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Returns
    -------
    SensitivityResult
        A sensitivity of 0 says that nothing that tells the groups apart moves the prediction. It has no
        unit of its own: it is read beside the baseline of the reference people.

    Raises
    ------
    InputError
        No protected attribute or an unknown one, a group too small to learn from, a model that cannot
        score invented people or reads free text, counterfactual columns that cannot be used, an option
        out of range.
    """
    options = check_options(SensitivityOptions, options, "sensitivity")
    # a stream each: how many numbers one step draws, by rows or counts, moves no draw of the next
    of_people, of_models, of_twins, of_fits, of_tests = generator(rng).spawn(5)
    attributes = attributes_of(subject, options)
    check_known(subject, attributes, options)
    people = choose_people(subject, options, of_people)
    models = train_models(people, attributes, options, of_models, part(progress, 0.0, 0.1))
    progress(0.1, "measuring sensitivity")
    chosen = people.subject.data, people.z, people.subject
    found = measure_by(models.statuses, *chosen, models.audited, options, part(progress, 0.1, 0.3))
    twin, note, others = _match(people, attributes, found, options, of_twins, part(progress, 0.3, 0.5))
    progress(0.5, "training protected-status models again")
    fits = cross_fit(people, attributes, models, options, of_fits, part(progress, 0.5, 0.95))
    progress(0.95, "comparing groups")
    return pack(people, attributes, models, found, fits, twin, note, others, options, of_tests)


def _match(
    people: MeasurementSetup,
    attributes: tuple[str, ...],
    found: Measured,
    options: SensitivityOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[MatchSet | None, str, dict[str, np.ndarray]]:
    """Return the match set or why there is none, and the decisions (n,) behind it by their name."""
    if options.match_set == "off":
        return None, "Not asked for.", {}
    subject = people.subject
    distance = distances(subject, subject.scores)
    held: dict[str, Any] = {
        "weights": people.weights,
        "bands": options.bands,
        "draws": options.bootstrap,
        "level": options.level,
        "rng": rng,
    }
    if options.counterfactuals:
        progress(0.0, "scoring the counterfactuals")
        otherwise, words = decided_otherwise(subject, attributes[0], options.counterfactuals)
        measured = found.sensitivity, found.influence, distance
        made = match_set(*measured, otherwise, twin=words, source="counterfactuals", **held)
        return made, "", {"counterfactual_decision": otherwise != subject.decisions}
    twins = train_twins(subject, attributes, int(rng.integers(2**31)), progress)
    if isinstance(twins, str):
        return None, twins, {}
    made = match_set(
        found.sensitivity,
        found.influence,
        distance,
        twins.decisions != subject.decisions,
        twin=twins.words,
        by_chance=twins.by_chance != subject.decisions,
        **held,
    )
    decisions = {"audited": subject.decisions, "augmented": twins.decisions, "trained anew": twins.by_chance}
    weights = people.weights
    metrics = metrics_of(subject.data, attributes, decisions, weights, options.level)
    others = {"twin_decision": twins.decisions, "anew_decision": twins.by_chance}
    return dataclasses.replace(made, metrics=metrics), "", others
