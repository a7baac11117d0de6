"""New samples of the worst group that the model decides against its trend, and training rows with them."""

from __future__ import annotations

import dataclasses
import hashlib

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.data.frames import with_columns
from audits.mitigation.options import MitigationOptions
from audits.mitigation.treated import GroupKind, TreatedRuleSet
from audits.models import Subject

_FIRST_AMOUNT = 50
_MAX_TRIES = 40


def draw_samples(
    subject: Subject,
    groups: GroupKind,
    group: TreatedRuleSet,
    options: MitigationOptions,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, np.ndarray, int]:
    """New samples of the group that the model decides against the group's trend, with that label."""
    wanted = max(_FIRST_AMOUNT, round(max(options.amounts) * subject.data.size))
    kept: list[pd.DataFrame] = []
    found = tried = 0
    opposite = group.direction == "harmed"
    while found < wanted and tried < _MAX_TRIES * wanted:
        frame, drawn = groups.draw(subject, group, wanted, rng)
        its_groups = subject.data.groups.iloc[drawn].reset_index(drop=True)
        take = subject.decide(subject.favorable_score(frame), its_groups) == opposite
        kept.append(with_columns(frame[take], {_SEED: drawn[take]}))
        found, tried = found + int(take.sum()), tried + wanted
    samples = pd.concat(kept, ignore_index=True).head(wanted)
    return samples, np.full(len(samples), opposite), tried


_SEED = "\0seed"  # no column of a user has this name


def amounts_of(options: MitigationOptions, people: int, available: int) -> list[int]:
    """Return how many samples to add, rising: the shares asked for, and a few; no more than there are."""
    asked = {max(_FIRST_AMOUNT, round(share * people)) for share in options.amounts} | {_FIRST_AMOUNT}
    return sorted({min(amount, available) for amount in asked if min(amount, available) > 0})


def augmented_by(training: AuditData, samples: pd.DataFrame, labels: np.ndarray) -> AuditData:
    """The training rows and the samples below them, under new row numbers."""
    seeds, added = samples[_SEED].to_numpy(), samples.drop(columns=_SEED)
    if training.label is not None:
        wanted = [
            training.frame[training.label][np.asarray(training.y) == side].iloc[0] for side in (False, True)
        ]
        named = pd.Series([wanted[int(label)] for label in labels], index=added.index)
        added = with_columns(added, {training.label: named})
    last = int(pd.to_numeric(pd.Series(training.frame.index), errors="coerce").max(skipna=True) or 0)
    added.index = pd.RangeIndex(last + 1, last + 1 + len(added), name="row")
    added = added.astype({name: training.frame[name].dtype for name in added.columns})
    groups = training.groups.iloc[seeds].set_axis(added.index)
    mark = hashlib.sha256(training.digest.encode() + pd.util.hash_pandas_object(added).to_numpy().tobytes())
    return dataclasses.replace(
        training,
        frame=pd.concat([training.frame, added]),
        groups=pd.concat([training.groups, groups]),
        y=np.concatenate([np.asarray(training.y), labels]),
        weights=None
        if training.weights is None
        else np.concatenate([training.weights, np.ones(len(labels))]),
        design=None,  # samples are nobody's
        digest=mark.hexdigest(),
    )
