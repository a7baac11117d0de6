"""The loss-ratio audit: check, choose the metric, move everyone, test, pack."""

from __future__ import annotations

import numpy as np

from audits.checks import check_options, generator
from audits.data import AuditData
from audits.data.outliers import check_spread
from audits.errors import InputError
from audits.loss_ratio.assembly import pack
from audits.loss_ratio.attack.people import move_people
from audits.loss_ratio.attack.slopes import slopes_of
from audits.loss_ratio.metrics.crossfit import extremes
from audits.loss_ratio.metrics.distances import FairMetrics
from audits.loss_ratio.metrics.selection import choose_metric
from audits.loss_ratio.model_comparison import compare_models
from audits.loss_ratio.options import LossRatioOptions
from audits.loss_ratio.ratio_tests import run_tests, turned_ratios, with_ends
from audits.loss_ratio.result import LossRatioResult
from audits.models import Subject
from audits.models.labels import NumberModel
from audits.models.subspaces import category_units
from audits.progress import Progress, part, silent
from audits.records import says_what_it_lacks
from audits.stats.text import people


@says_what_it_lacks
def loss_ratio(
    subject: Subject,
    options: LossRatioOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> LossRatioResult:
    """Is a person's loss multiplied when the person is moved only in directions that should not matter?

    Parameters
    ----------
    subject : Subject
        Data with labels, and a model that can score people who do not exist.
    options : LossRatioOptions
        What was chosen; bounds are checked here again.
    rng : Generator, int or None
        Draws of folds, of a sample, of pairs and of splits; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Returns
    -------
    LossRatioResult
        A mean ratio of 1 says that moving people along the sensitive directions changes no loss;
        `reject` says that the ratio lies above the tolerance beyond chance.

    Raises
    ------
    InputError
        Labels or one of their outcomes are missing, the model cannot score invented people or gives no
        probabilities, the metric ignores nothing or everything, the steps diverge, an option is out of
        range, the metric cannot be turned as asked.
    """
    options = check_options(LossRatioOptions, options, "loss_ratio")
    rng = generator(rng)
    check_subject(subject)
    progress(0.0, "Choosing the fair metric")
    x = subject.space.encode(subject.data.frame) * category_units(subject.space)
    metric = choose_metric(subject.data, subject.space, x, options, rng)
    share = 0.4 if options.compare or options.misspecified else 0.95
    first = 0.05 + 0.4 * (share - 0.05)
    seed = int(rng.integers(2**31))  # the same sample for each metric
    moved = move_people(subject, metric, options, generator(seed), part(progress, 0.05, first))
    ends = _ends(subject, metric, options, exact=moved.exact)
    also = [
        move_people(subject, each, options, generator(seed), part(progress, first, share)) for each in ends
    ]
    progress(share, "Testing")
    tests = with_ends(run_tests(moved, options), [run_tests(each, options) for each in also])
    middle = 0.5 * (share + 0.97) if options.compare else 0.97
    turned = turned_ratios(subject, metric, options, rng, part(progress, share, middle))
    comparison = (
        compare_models(subject, options, rng, part(progress, middle, 0.97)) if options.compare else ()
    )
    progress(0.97, "Writing the people's table")
    return pack(subject, metric, moved, tests, comparison, turned, options)


def _ends(
    subject: Subject, metric: FairMetrics, options: LossRatioOptions, *, exact: bool
) -> tuple[FairMetrics, ...]:
    """Return the metrics at the ends of what the data allow; without gradient the lower one, none clears."""
    if metric.learned is None or not metric.learned.rows.size:
        return ()
    found = extremes(metric, slopes_of(subject, options), options.level)
    return found if exact else found[:1]


def check_labels(data: AuditData) -> None:
    """Raise `InputError` unless both outcomes are known to have happened."""
    if data.y is None:
        raise InputError(
            "data.label",
            "is missing: a loss compares the model with the true outcome",
            advice="name the label",
        )
    if data.y.all() or not data.y.any():
        raise InputError(
            "data.label",
            f"must have both outcomes among the {people(data.n)} audited, but has one",
            advice="check data.label, data.favorable and data.keep",
        )


def check_subject(subject: Subject) -> None:
    """Raise `InputError` unless there are losses to compare."""
    check_labels(subject.data)
    if not subject.model.invents:
        raise InputError(
            "model",
            "must be a model that can be asked, not a column of predictions",
            advice="upload a model, or train one",
        )
    if not subject.space.names:
        raise InputError(
            "data.features",
            "must include a number or a category along which people can be moved, not only text",
        )
    check_spread(subject.data)
    if subject.score_kind != "probability" and not isinstance(subject.model, NumberModel):
        raise InputError(
            "model",
            "must give probabilities, which the loss needs, but gives only labels or scores",
            advice="export it with its probabilities; where it predicts the number that data.label cuts, set "
            "model.predict: label",
        )
