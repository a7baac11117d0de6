"""The sensitivity audit: check, train A, measure, hold against the twin, pack."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from audits.checks import build, generator
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.sensitivity.counterfactuals import check_known, decided_otherwise
from audits.sensitivity.matching import MatchSet, match_set
from audits.sensitivity.measuring import Measured
from audits.sensitivity.options import SensitivityOptions
from audits.sensitivity.packing import distances, pack
from audits.sensitivity.result import SensitivityResult
from audits.sensitivity.scene import People, attributes_of, choose_people, measure_people, train_models
from audits.sensitivity.twin import train_twins

__all__ = ["sensitivity", "sensitivity_audit"]


def sensitivity(
    subject: Subject,
    *,
    protected: str | tuple[str, ...] | None = None,
    status_model: Literal["like", "network", "logistic"] = "like",
    give_protected: bool = False,
    gradient: Literal["logit", "literal"] = "logit",
    smooth: int = 0,
    smooth_noise: float = 0.1,
    step: float = 0.1,
    false_alarm_rate: float = 0.05,
    threshold: float | None = None,
    level: float = 0.05,
    material: float = 1.25,
    match_set: Literal["auto", "off"] = "auto",
    counterfactuals: dict[str, str] | None = None,
    bands: int = 5,
    bootstrap: int = 300,
    max_people: int | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> SensitivityResult:
    """Would this prediction have been another, had the person belonged to another group?

    Parameters
    ----------
    subject : Subject
        Data with protected attributes, and a model that can score people who do not exist.
    rng : Generator, int or None
        Training of A and of the twin, draws of the bootstrap and of a subsample; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Other parameters are those of `SensitivityOptions`.

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
    options = {
        "protected": protected,
        "status_model": status_model,
        "give_protected": give_protected,
        "gradient": gradient,
        "smooth": smooth,
        "smooth_noise": smooth_noise,
        "step": step,
        "false_alarm_rate": false_alarm_rate,
        "threshold": threshold,
        "level": level,
        "material": material,
        "match_set": match_set,
        "counterfactuals": counterfactuals,
        "bands": bands,
        "bootstrap": bootstrap,
        "max_people": max_people,
    }
    return sensitivity_audit(
        subject, build(SensitivityOptions, options, "sensitivity"), rng=rng, progress=progress
    )


def sensitivity_audit(
    subject: Subject,
    options: SensitivityOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> SensitivityResult:
    """Run `sensitivity` with checked options: what a spec's run calls."""
    rng = generator(rng)
    attributes = attributes_of(subject, options)
    check_known(subject, attributes, options)
    people = choose_people(subject, options, rng)
    models = train_models(people, attributes, options, rng, part(progress, 0.0, 0.4))
    progress(0.4, "measuring sensitivity")
    found = measure_people(people, models, options, part(progress, 0.4, 0.7))
    twin, note = _match(people, attributes, found, options, rng, part(progress, 0.7, 0.95))
    progress(0.95, "comparing groups")
    return pack(people, attributes, models, found, twin, note, options, rng)


def _match(
    people: People,
    attributes: tuple[str, ...],
    found: Measured,
    options: SensitivityOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[MatchSet | None, str]:
    if options.match_set == "off":
        return None, "Not asked for."
    subject = people.subject
    distance = distances(subject, found.score)
    held: dict[str, Any] = {
        "weights": people.weights,
        "bands": options.bands,
        "draws": options.bootstrap,
        "level": options.level,
        "rng": rng,
    }
    if options.counterfactuals:
        progress(0.0, "deciding on the counterfactuals")
        otherwise, words = decided_otherwise(subject, attributes[0], options.counterfactuals)
        measured = found.sensitivity, found.influence, distance
        return match_set(*measured, otherwise, twin=words, source="counterfactuals", **held), ""
    twins = train_twins(subject, attributes, int(rng.integers(2**31)), progress)
    if isinstance(twins, str):
        return None, twins
    made = match_set(
        found.sensitivity,
        found.influence,
        distance,
        twins.decisions != subject.decisions,
        twin=twins.words,
        by_chance=twins.by_chance != subject.decisions,
        **held,
    )
    return made, ""
