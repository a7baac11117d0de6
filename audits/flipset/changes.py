"""More than two outcomes: how the score changes at the counterpart, and which class turns into which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from audits.flipset.matching import Counterparts, Matched
from audits.models import Subject

__all__ = ["class_changes", "score_change"]

_BINS = 40
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def score_change(matched: list[Matched], scores: np.ndarray, sizes: np.ndarray) -> dict[str, Any]:
    """Describe how the favourable score changes from person to counterpart, on the scale that is thresholded.

    Parameters
    ----------
    scores, sizes : arrays (n,)
        Of all audited people: favourable scores, and people a row stands for.

    Returns
    -------
    dict
        ``mean`` change, above 0 where counterparts score better; its ``quantiles`` over people and
        counterparts; ``histogram``: ``edges`` of bins and the ``people`` in each; ``n`` people. Who is left
        without a counterpart is not counted.
    """
    change, mass = [], []
    for part in matched:
        h = scores[part.source]
        if part.there.invented is not None:
            change.append(part.there.invented.scores[part.source_atom] - h)
            mass.append(sizes[part.source] * part.there.found[part.source_atom])
            continue
        gaps, shares = _real_changes(part, scores, sizes)
        change.append(gaps)
        mass.append(shares)
    values, people = np.concatenate(change), np.concatenate(mass)
    total = float(people.sum())
    order = np.argsort(values, kind="stable")
    reach = np.cumsum(people[order]) / total
    places = np.minimum(np.searchsorted(reach, np.array(_QUANTILES) - 1e-12), len(order) - 1)
    counted, edges = np.histogram(values, bins=_bin_edges(values), weights=people)
    return {
        "mean": float(people @ values / total),
        "histogram": {"edges": edges.tolist(), "people": counted.tolist()},
        "quantiles": {f"{q:g}": float(values[order[k]]) for q, k in zip(_QUANTILES, places, strict=True)},
        "n": total,
    }


def _bin_edges(values: np.ndarray) -> np.ndarray:
    """Edges of as many bins as the values can be told apart by; one bin where they all but agree."""
    low, high = float(values.min()), float(values.max())
    edges = np.linspace(low, high, _BINS + 1)
    if (np.diff(edges) > 0).all():
        return edges
    gap = 1e-6 * max(abs(low), abs(high), 1.0)
    return np.array([low - gap, high + gap])


def _real_changes(part: Matched, scores: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Change from each source person to the mean of each atom among the counterparts, and its people."""
    there = part.mean_by_target(scores[part.target], sizes[part.target])
    shares = part.there.shares[part.source_atom].tocoo()
    row, column = shares.coords
    found = part.there.found[part.source_atom][row]
    return there[column] - scores[part.source][row], sizes[part.source][row] * found * shares.data


def class_changes(subject: Subject, matched: list[Matched], sizes: np.ndarray) -> pd.DataFrame:
    """People by the class the model gives them (rows) and their counterparts (columns).

    A class is the arg-max of the model's probabilities. Empty for models of two classes or none: there the
    flipsets say it all.
    """
    classes = subject.model.classes
    if classes is None or len(classes) < 3:
        return pd.DataFrame()
    best = np.asarray(subject.model.score(subject.data.frame)).argmax(1)
    table = np.zeros((len(classes), len(classes)))
    for part in matched:
        other = _class_shares(subject, part.there, part, best, sizes, len(classes))  # (L, c)
        reached = (part.there.shares @ other)[part.source_atom]
        people = sizes[part.source] * part.there.found[part.source_atom]
        np.add.at(table, best[part.source], people[:, None] * reached)
    names = [str(name) for name in classes]
    return pd.DataFrame(table, index=pd.Index(names, name="class"), columns=[f"→ {name}" for name in names])


def _class_shares(
    subject: Subject, there: Counterparts, part: Matched, best: np.ndarray, sizes: np.ndarray, count: int
) -> np.ndarray:
    """Share (L, c) of each counterpart in each class."""
    if there.invented is not None:
        return np.eye(count)[np.asarray(subject.model.score(there.invented.frame)).argmax(1)]
    shares = np.zeros((len(part.y), count))
    np.add.at(shares, (part.target_atom, best[part.target]), sizes[part.target])
    return shares / part.target_size[:, None]
