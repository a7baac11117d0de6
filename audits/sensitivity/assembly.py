"""From what was measured to the result."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

from audits.models import Subject
from audits.models.thresholds import cuts
from audits.sensitivity.inference import (
    Withheld,
    baseline_of,
    feature_shares,
    histogram_of,
    judge_groups,
    threshold_of,
)
from audits.sensitivity.match_sets.counterfactual_model import depends
from audits.sensitivity.match_sets.sets import MatchSet
from audits.sensitivity.measurement.crossfit import CrossFits
from audits.sensitivity.measurement.gradients import Measured, exceeds
from audits.sensitivity.measurement.setup import MeasurementSetup, Models
from audits.sensitivity.monitor.models import carry
from audits.sensitivity.monitor.networks import parameter_table
from audits.sensitivity.monitor.reference import profile_of
from audits.sensitivity.options import SensitivityOptions
from audits.sensitivity.result import SensitivityResult
from audits.sensitivity.text import PERFECT, finding, too_few, warnings_for
from audits.stats import wilson
from audits.stats.text import number


def distances(subject: Subject, scores: np.ndarray) -> np.ndarray:
    """Return how far scores (n,) of the people audited are from where their decision turns, (n,)."""
    cut = cuts(subject.threshold, subject.data.groups)
    return np.abs(scores + cut if subject.higher_is == "unfavorable" else scores - cut)


def pack(
    people: MeasurementSetup,
    attributes: tuple[str, ...],
    models: Models,
    found: Measured,
    fits: CrossFits,
    twin: MatchSet | None,
    note: str,
    others: dict[str, np.ndarray],
    options: SensitivityOptions,
    rng: np.random.Generator,
) -> SensitivityResult:
    """Judge what was measured, and put everything into the result."""
    subject, weights, values = people.subject, people.weights, found.sensitivity
    data, space = subject.data, subject.space
    threshold = threshold_of(values, weights, options)
    flagged = exceeds(values, threshold.value or 0.0)
    above, n = float(weights @ flagged), float(weights.sum())
    baseline = baseline_of(values, weights, options.level)
    models = dataclasses.replace(models, quality=fits.quality)
    direct = tuple(name for name in attributes if depends(subject, name))
    withheld = why_withheld(models, direct, options)
    encoding, reads = space.described(), _reads(subject, models)
    of_groups = (values, flagged, data, weights, attributes, options, rng.spawn(1)[0])
    compared = judge_groups(*of_groups, withheld=withheld, fits=fits)
    return SensitivityResult(
        options=dataclasses.asdict(options),
        protected=attributes,
        method=_method(options, models),
        estimated=models.audited is None,
        model={"name": subject.model.name, "sha256": subject.model.sha256, "threshold": subject.threshold},
        judged=compared.judged,
        finding=finding(compared, baseline, threshold, above, n, options),
        warnings=too_few(compared)
        + warnings_for(
            options,
            models.quality,
            baseline,
            threshold,
            _slope_note(models, options, None if models.audited is not None else subject.splits),
            direct,
            tuple(name for name in attributes if name not in space.columns),
            withheld.verdict,
        ),
        rows={
            "audited": subject.data.n + sum(people.left_out.values()),
            "used": data.n,
            "left_out": people.left_out,
        },
        status=models.quality,
        baseline=baseline,
        threshold=threshold,
        false_alarm_rate=above / n,
        above=above,
        flagged=wilson(above, n, level=options.level),
        groups=compared.groups,
        by_feature=feature_shares(found.contributions, space.columns, flagged, weights, options, rng),
        histogram=histogram_of(values, data, weights, attributes, threshold.value or 0.0),
        match_set=twin,
        match_set_note=note,
        reads=reads,
        status_groups={each.attribute: list(each.groups) for each in models.statuses},
        encoding=encoding,
        people=_people_table(subject, found, flagged, others),
        contributions=pd.DataFrame(found.contributions, index=data.frame.index, columns=list(space.columns)),
        parameters=parameter_table(models.audited, models.statuses),
        carried=None if models.audited else carry(subject, people.z, options.step),
        profile=profile_of(subject, space, people.z, found.score, values, weights, encoding, reads),
        direct=direct,
    )


def why_withheld(models: Models, direct: tuple[str, ...], options: SensitivityOptions) -> Withheld:
    """Say why no verdict, or none of all-clear, can follow from these models.

    Parameters
    ----------
    direct : tuple of str
        Attributes on which decisions depend directly, whatever the other features tell.
    """
    at_chance = [each for each in models.quality if each.at_chance]
    if at_chance:
        told = " and ".join(
            f"{each.attribute} (AUC {number(each.auc.value)}, {number(each.auc.low)}–{number(each.auc.high)})"
            for each in at_chance
        )
        if all(each.hidden for each in at_chance):
            return Withheld(f"the other features don't reveal {told}, so there is no proxy to depend on")
        return Withheld(f"the other features may not reveal {told}, so there may be no proxy to depend on")
    networks = [None if models.audited is None else models.audited.network]
    networks += [status.network for status in models.statuses]
    lines = [net is not None and not net.hidden and net.weights[-1].shape[1] == 1 for net in networks]
    if options.gradient != "literal" and all(lines):
        return Withheld(
            "with two logistic regressions the sensitivity is p(1 - p) times a constant: it shows who is "
            "close to one half and nothing about protected status. Set status_model to a network"
        )
    if direct:
        itself = "itself" if len(direct) == 1 else "themselves"
        return Withheld(
            clear=f"the model reads {' and '.join(direct)} {itself}, and this audit compares groups, so it "
            "cannot clear that"
        )
    copied = [each.attribute for each in models.quality if (each.auc.value or 0.0) >= PERFECT]
    if copied:
        named = " and ".join(copied)
        return Withheld(
            clear=f"some feature is as good as {named} itself, and this audit compares groups, so it cannot "
            "clear that"
        )
    return Withheld()


def _slope_note(models: Models, options: SensitivityOptions, splits: object | None) -> str:
    """Say why slopes are finite differences; empty for gradients. `splits` are those of trees."""
    if models.audited is not None:
        return ""
    steps = (
        " It is made of trees, whose score changes only at their split points. A slope is the change over "
        "that step, and 0 where the step crosses none."
    )
    return (
        f"{models.why_not}: its slopes are finite differences ({options.step:g} standard deviations, at "
        f"least one whole step) and swaps of categories, not gradients.{'' if splits is None else steps}"
    )


def _reads(subject: Subject, models: Models) -> tuple[str, ...]:
    """Return the columns that F or an A reads, in the order of the features."""
    return tuple(
        column
        for column in subject.space.columns
        if column in subject.model.columns or any(column in each.reads for each in models.quality)
    )


def _people_table(
    subject: Subject, found: Measured, flagged: np.ndarray, others: dict[str, np.ndarray]
) -> pd.DataFrame:
    counts = {} if subject.data.weights is None else {"people": subject.data.weights}
    return pd.DataFrame(
        {
            "sensitivity": found.sensitivity,
            "flagged": flagged,
            "score": subject.scores,
            "decision": subject.decisions,
            "gradient": found.influence,
            "distance": distances(subject, subject.scores),
            **others,
            **counts,
        },
        index=subject.data.frame.index,
    )


def _method(options: SensitivityOptions, models: Models) -> str:
    at = "log-odds" if options.gradient == "logit" else "probability (literal form)"
    how = "finite differences and category swaps" if models.audited is None else "gradients"
    smooth = f", averaged over {options.smooth} draws of noise" if options.smooth and models.audited else ""
    return f"{how}{smooth}; protected status at its {at}"
