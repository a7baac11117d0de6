"""How a model's log-odds (or its number) change along each encoded feature, at some of the people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from audits.data.encoder_blocks import Block, NumberBlock
from audits.data.frames import with_columns
from audits.loss_ratio.attack.people import answers_at, differentiable_of
from audits.loss_ratio.attack.targets import Target, target_of
from audits.loss_ratio.options import LossRatioOptions
from audits.models import Subject
from audits.models.networks.gradients import logits_over
from audits.models.subspaces import category_units

_PEOPLE = 300
_STEP = 1e-3
_WIDE = 0.5  # standard deviations, where answers are known for rows alone


def slopes_of(subject: Subject, options: LossRatioOptions) -> np.ndarray:
    """Return slopes (k, d) at up to 300 people, evenly spaced, over points of the space times its units.

    Differences of what a network gives at points nearby; of any other model, of its answers about rows: a
    number half a standard deviation up and down, a category swapped for each other one.
    """
    some = np.unique(np.linspace(0, subject.data.n - 1, min(subject.data.n, _PEOPLE)).astype(int))
    data, model, units = subject.data.take(some), differentiable_of(subject), category_units(subject.space)
    target = target_of(subject, data, options.loss)
    if model is None:
        columns = [each for part in subject.space.parts for each in _of_rows(part, data.frame, target)]
        slopes = np.stack(columns, axis=-1)
    else:
        network = logits_over(model, subject.space, data.frame, units)
        x = subject.space.encode(data.frame) * units
        ends = (target.odds(answers_at(network, x + step, target)) for step in _steps(x.shape[1]))
        slopes = np.stack([(up - down) / (2 * _STEP) for up, down in zip(ends, ends, strict=True)], axis=-1)
    return slopes.reshape(-1, slopes.shape[-1])


def _steps(d: int) -> Iterator[np.ndarray]:
    """Yield a step up and one down of each coordinate."""
    for unit in np.eye(d):
        yield _STEP * unit
        yield -_STEP * unit


def _of_rows(part: Block, frame: pd.DataFrame, target: Target) -> Iterator[np.ndarray]:
    """Yield the slopes (n, k) along each encoded column of one raw column."""

    def odds(values: pd.Series) -> np.ndarray:
        own = with_columns(frame, {part.column: values.array})
        return target.odds(target.raw(own))

    if isinstance(part, NumberBlock):
        own = part.encode(frame[part.column], unknown="zero")
        width = max(_WIDE, part.step / part.sd)
        up, down = (part.decode(own + sign * width * np.eye(1, own.shape[1])) for sign in (1.0, -1.0))
        run = part.encode(up, unknown="zero")[:, :1] - part.encode(down, unknown="zero")[:, :1]
        rise = odds(up) - odds(down)
        yield np.divide(rise, run, out=np.zeros_like(rise), where=np.abs(run) > 1e-12)
        yield from (np.zeros_like(rise) for _ in part.names[1:])
    else:
        base = target.odds(target.raw(frame))
        for level in range(len(part.levels)):
            yield odds(pd.Series(part.levels.array.take(np.full(len(frame), level)))) - base
