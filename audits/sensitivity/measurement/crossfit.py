"""Several cross-fits of the protected-status model A: no verdict hangs on one split or one training.

Where the audited model was brought along, each cross-fit halves the people again and measures either half by
the A that the other half taught. Where it was trained here, each trains A on a bootstrap sample of the
training rows and measures everyone held out.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from audits.data import AuditData
from audits.data.partition import cell_counts, single_people
from audits.errors import InputError
from audits.models.quality import area_under_curve
from audits.progress import Progress, part
from audits.sensitivity.measurement.gradients import Status
from audits.sensitivity.measurement.setup import MAX_LEARNERS, MeasurementSetup, Models, measure_by
from audits.sensitivity.measurement.status_models import GroupArea, StatusQuality, hidden_widths, train_status
from audits.sensitivity.options import SensitivityOptions
from audits.stats import Estimate

FITS, FEW_ROWS_FITS, FEW_ROWS = 8, 20, 3000
"""Cross-fits behind a verdict; where rows are few, one network differs more from the next, and is quick."""

_HELD_OUT = 0.5


@dataclass(frozen=True, eq=False)
class CrossFits:
    """Sensitivities (fits, n) of the people of `data`, by As that did not learn from them.

    Attributes
    ----------
    quality : tuple of StatusQuality
        As that of the first A, its areas the mean of all cross-fits with their spread in the interval.
    """

    data: AuditData
    values: np.ndarray
    quality: tuple[StatusQuality, ...]

    @property
    def mean(self) -> np.ndarray:
        """Mean sensitivity of each person (n,), each cross-fit in units of its own mean."""
        weights = self.data.row_weights
        units = self.values @ weights / weights.sum()
        return (self.values / np.where(units > 0, units, 1.0)[:, None]).mean(axis=0)

    def spread(self, inside: np.ndarray) -> float:
        """Standard deviation over the cross-fits of the log ratio of means inside and outside (n,) bool."""
        weights = self.data.row_weights
        own, rest = (self.values[:, side] @ weights[side] / weights[side].sum() for side in (inside, ~inside))
        known = (own > 0) & (rest > 0)
        logs = np.log(own[known] / rest[known])
        return float(logs.std(ddof=1)) if len(logs) > 1 else 0.0


def cross_fit(
    people: MeasurementSetup,
    attributes: tuple[str, ...],
    models: Models,
    options: SensitivityOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> CrossFits:
    """Train As again, several times, and measure everyone by those that did not learn from them."""
    data, subject = cell_counts(people.everybody), people.subject  # alike people are measured alike
    hidden = hidden_widths(options.status_model, None if models.audited is None else models.audited.network)
    unseen = () if options.give_protected else attributes
    fits: list[tuple[list[Status], np.ndarray]] = []
    times = FEW_ROWS_FITS if people.training.n < FEW_ROWS else FITS
    for place in range(times):
        stretch = part(progress, 0.6 * place / times, 0.6 * (place + 1) / times)
        if subject.training is None:
            parts = data.split(_HELD_OUT, rng)
            halves = tuple(single_people(half, most=MAX_LEARNERS) for half in parts)
            share = _share(parts[1], data)
        else:
            halves, share = (_bootstrap(people.training, rng),), np.ones(data.n)
        try:
            taught = [
                train_status(
                    half, subject.space, name, hidden, unseen=unseen, fewest=2, rng=rng, progress=stretch
                )
                for half in halves
                for name in attributes
            ]
        except InputError:  # a group of whom nobody is in one half teaches no A
            continue
        fits.append((taught, share))
    if not fits:
        data, fits = subject.data, [(list(models.statuses), np.ones(subject.data.n))]
    statuses = np.array([taught for taught, _ in fits], dtype=object)
    statuses = statuses.reshape(len(fits), -1, len(attributes))  # (fits, sides, attributes)
    z, shares = subject.space.encode(data.frame), [share for _, share in fits]
    stretch = part(progress, 0.6, 1.0)
    found = measure_by(list(statuses.flat), data, z, subject, models.audited, options, stretch)
    largest = found.by_attribute.T.reshape(*statuses.shape, data.n).max(axis=2)
    values = np.stack([_of_halves(each, share) for each, share in zip(largest, shares, strict=True)])
    quality = [
        _cross_fitted(each, statuses[:, :, place], shares, data, z, options.level)
        for place, each in enumerate(models.quality)
    ]
    return CrossFits(data, values, tuple(quality))


def _of_halves(sides: np.ndarray, share: np.ndarray) -> np.ndarray:
    """What is said of each row by the As that did not learn from its people: the first's `share`."""
    return sides[0] if len(sides) == 1 else share * sides[0] + (1.0 - share) * sides[1]


def _share(held: AuditData, data: AuditData) -> np.ndarray:
    """Share (n,) of each row's people who are among those held out."""
    share = np.zeros(data.n)
    share[data.frame.index.get_indexer(held.frame.index)] = held.row_weights
    return share / data.row_weights


def _bootstrap(data: AuditData, rng: np.random.Generator) -> AuditData:
    """Draw as many people with replacement; each row once, so that rows set aside for training are unseen."""
    weights = data.row_weights
    counts = rng.multinomial(max(round(weights.sum()), 1), weights / weights.sum())
    drawn = np.flatnonzero(counts)
    return dataclasses.replace(data.take(drawn), weights=counts[drawn].astype(float), design=None)


def _cross_fitted(
    first: StatusQuality,
    fits: np.ndarray,
    shares: list[np.ndarray],
    data: AuditData,
    z: np.ndarray,
    level: float,
) -> StatusQuality:
    """Return the quality of the first A with areas of all cross-fits, As (fits, sides)."""
    group, weights = data.groups[first.attribute].to_numpy(dtype=str), data.row_weights
    areas = []
    for each in first.groups:
        found = []
        for sides, share in zip(fits, shares, strict=True):
            if any(each.group not in status.groups for status in sides):
                continue
            told = np.stack([status.probabilities(z)[:, status.groups.index(each.group)] for status in sides])
            known = np.isin(group, sides[0].groups)
            p = _of_halves(told, share)[known]
            found.append(
                area_under_curve(
                    p, group[known] == each.group, weights[known], level=level / len(first.groups)
                )
            )
        areas.append(GroupArea(each.group, each.n, mean_area(found, level / len(first.groups)) or each.auc))
    return dataclasses.replace(first, groups=tuple(areas))


def mean_area(areas: list[Estimate], level: float) -> Estimate | None:
    """Return the mean of areas of several cross-fits of the same people, with what is left of their spread.

    Its variance is the mean of each one's own, and the variance over cross-fits divided by how many there
    are: so much another few of them would move it.

    Examples
    --------
    >>> one, two = Estimate(0.5, 0.48, 0.52, 100, "score 95%"), Estimate(0.54, 0.52, 0.56, 100, "score 95%")
    >>> found = mean_area(4 * [one, two], 0.05)
    >>> round(found.value, 2), round(found.low, 3), round(found.high, 3)
    (0.52, 0.495, 0.545)
    """
    known = [each for each in areas if each.value is not None and None not in (each.low, each.high)]
    if not known:
        return None
    value, low, high = (np.array([getattr(each, end) for each in known]) for end in ("value", "low", "high"))
    mean, z = float(value.mean()), float(-ndtri(level / 2))
    apart = z**2 * float(np.sum((value - mean) ** 2)) / max(len(known) - 1, 1) / len(known)
    below, above = (float(np.sqrt(np.mean(reach**2) + apart)) for reach in (value - low, high - value))
    method = f"{known[0].method}, mean of {len(known)} cross-fits with their spread"
    return Estimate(mean, max(mean - below, 0.0), min(mean + above, 1.0), known[0].n, method)
