"""Texts with their identity terms exchanged, until every rule set's share is known well enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.models import Subject
from audits.progress import Progress, silent
from audits.rule_sets.attributes import Attribute
from audits.rule_sets.cells import Cells
from audits.rule_sets.options import RuleSetsOptions
from audits.rule_sets.sampling import Sampled
from audits.rule_sets.scoring import margin, people_for_margin
from audits.rule_sets.sums import GroupSums
from audits.rule_sets.text import Vocabulary, any_rule

__all__ = ["sample_texts"]

_OUTSIDE = 4
_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class _Texts:
    """What sampling needs: the texts, and which rows hold a term of each category."""

    column: str
    vocabulary: Vocabulary
    rows: np.ndarray  # (n,) of str
    any_term: np.ndarray  # (n, categories)


def sample_texts(
    subject: Subject,
    vocabulary: Vocabulary,
    groups: GroupSums,
    options: RuleSetsOptions,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Sampled | None:
    """Exchange terms in texts until every rule set's sampled score is precise enough (Algorithm 2).

    Returns
    -------
    Sampled or None
        None where the model cannot score new texts.
    """
    if not subject.model.invents or options.samples == 0:
        return None
    cells, attributes = groups.cells, groups.attributes
    any_term = np.column_stack(
        [any_rule(item)[cells.codes[cells.row_cell, k]] for k, item in enumerate(attributes)]
    )
    texts = _Texts(
        str(options.text),
        vocabulary,
        subject.data.frame[options.text].fillna("").astype(str).to_numpy(dtype=object),
        any_term,
    )
    count = len(groups.rules)
    outside = _outside(subject, texts, groups, options, rng)
    drawn, good = np.zeros(count), np.zeros(count)
    room = max(options.max_samples, count)
    wanted = np.full(count, float(min(options.samples, room // count)))
    for round_ in range(_ROUNDS):
        progress(
            round_ / _ROUNDS,
            f"Scoring {int((wanted - drawn).clip(min=0).sum()):,} texts with exchanged terms",
        )
        more = np.maximum(wanted - drawn, 0).astype(np.int64)
        good += _inside(subject, texts, groups, more, rng)
        drawn += more
        share, rest, n_rest = good / drawn, outside[0] / outside[1], outside[1]
        width = margin(share, drawn, rest, n_rest, options.confidence)
        wide = width > options.error
        enough = people_for_margin(share, rest, options.error, options.confidence) * 1.02
        wanted = np.where(wide, np.maximum(enough, drawn + 1), drawn)
        if not wide.any() or wanted.sum() > room:
            break
    people = int(drawn.sum() + outside[2])
    return Sampled(share, rest, drawn, n_rest, width, None, (texts.column,), bool(not wide.any()), people)


def _inside(
    subject: Subject, texts: _Texts, groups: GroupSums, more: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Favourable ones among `more` (S,) further texts of each rule set."""
    good = np.zeros(len(groups.rules))
    used = groups.rules >= 0
    for chosen in np.unique(used, axis=0):
        sets = np.flatnonzero((used == chosen).all(1) & (more > 0))
        seeds = np.flatnonzero(texts.any_term[:, chosen].all(1))
        if not sets.size:
            continue
        which = np.repeat(sets, more[sets])
        rows = seeds[rng.integers(len(seeds), size=len(which))]
        # the same seed for the same rule set gives the same text: build and score it once
        pairs, back = np.unique(np.column_stack([which, rows]), axis=0, return_inverse=True)
        made = [
            texts.vocabulary.exchanged(
                texts.rows[row],
                {
                    int(place): texts.vocabulary.terms[place][groups.rules[number, place]]
                    for place in np.flatnonzero(chosen)
                },
            )
            for number, row in pairs
        ]
        decided = _decide(subject, texts.column, made, pairs[:, 1])[back.reshape(-1)]
        good += np.bincount(which, decided, minlength=len(good))
    return good


def _outside(
    subject: Subject, texts: _Texts, groups: GroupSums, options: RuleSetsOptions, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, int]:
    """Favourable and all texts outside each rule set, (S,) each, of one pool; and the size of the pool."""
    data = subject.data
    size = _OUTSIDE * options.samples
    weights = None if data.weights is None else data.weights / data.weights.sum()
    rows = rng.choice(data.n, size, p=weights)
    drawn = np.column_stack([rng.integers(len(terms), size=size) for terms in texts.vocabulary.terms])
    drawn[~texts.any_term[rows]] = -1
    made = [
        texts.vocabulary.exchanged(
            texts.rows[row],
            {place: texts.vocabulary.terms[place][term] for place, term in enumerate(terms) if term >= 0},
        )
        for row, terms in zip(rows, drawn, strict=True)
    ]
    decided = _decide(subject, texts.column, made, rows)
    patterns, which = np.unique(drawn, axis=0, return_inverse=True)
    n = np.bincount(which.reshape(-1), minlength=len(patterns)).astype(float)
    good = np.bincount(which.reshape(-1), decided, minlength=len(patterns))
    own = [
        Attribute(
            item.name,
            item.words,
            np.empty(0, int),
            np.eye(len(item.words), len(item.words) + 1, dtype=bool),
            item.words,
            item.length,
        )
        for item in groups.attributes
    ]
    codes = np.where(patterns >= 0, patterns, [len(item.words) for item in own])
    cells = Cells(codes.astype(np.int64), n, good, np.empty(0, dtype=np.int64))
    inside = GroupSums(cells, own, groups.rules).of(np.column_stack([n, good]))
    return good.sum() - inside[:, 1], np.maximum(n.sum() - inside[:, 0], 1.0), size


def _decide(subject: Subject, column: str, made: list[str], rows: np.ndarray) -> np.ndarray:
    """Decisions on the rows with their text exchanged; equal texts of a text-only model are scored once."""
    if set(subject.model.columns) == {column} and isinstance(subject.threshold, float | int):
        codes, texts = pd.factorize(np.array(made, dtype=object))
        frame = pd.DataFrame({column: texts})
        return subject.decide(subject.favorable_score(frame), frame)[codes]
    frame = subject.data.frame.iloc[rows].reset_index(drop=True)
    frame[column] = made
    return subject.decide(
        subject.favorable_score(frame), subject.data.groups.iloc[rows].reset_index(drop=True)
    )
