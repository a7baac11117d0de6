"""The same groups by how the model errs: any value of a person, averaged over those whom it is about.

A measure is a value per person and who it is about: the false-positive rate is the share decided favorably
of those whose label is not. A rule set's difference is the mean inside minus the mean outside, each over the
people whom the measure is about. Under the null hypothesis the values have nothing to do with the
attributes, so they are shuffled among those people; the largest z-score of all rule sets in each shuffle
corrects p-values and intervals, as for favorable decisions. Several measures share the error rate, and the
shuffles, in equal parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.stats import norm

from audits.errors import InputError
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.rule_sets.inference.permutation import adjusted_p_values, agreeing, critical
from audits.rule_sets.options import Measure
from audits.stats.means import ALIKE, MIN
from audits.stats.shares import newcombe_ends
from audits.subgroups.cells import Cells
from audits.subgroups.sums import GroupSums

Function = Callable[[Subject], np.ndarray]
"""A value per person, (n,); NaN for those whom it is not about."""

_AT_ONCE = 8_000_000
_CLIP = 1e-12  # of probabilities: the loss of a certain error is 27.6, not infinite
_MIN = 2


@dataclass(frozen=True)
class Words:
    """How a measure is called: in a heading, of whom, and what more of it means."""

    name: str
    among: str
    share: bool
    what: str


WORDS: dict[Measure, Words] = {
    "false_positive_rate": Words(
        "False-positive rate", "people with the unfavorable label", True, "decided favorably"
    ),
    "false_negative_rate": Words(
        "False-negative rate", "people with the favorable label", True, "decided unfavorably"
    ),
    "precision": Words("Precision", "people with the favorable decision", True, "with the favorable label"),
    "calibration_error": Words(
        "Calibration error", "people", False, "share with the favorable label minus mean probability"
    ),
    "log_loss": Words("Log loss", "people", False, "mean log loss"),
    "squared_error": Words("Squared error", "people", False, "mean squared error"),
    "amount": Words("Amount", "people", False, "mean of the number decided or predicted"),
}


@dataclass(frozen=True, eq=False)
class Values:
    """One measure of every person.

    Attributes
    ----------
    name : str
    words : Words
    cell : int array (p,)
        Cell of each person whom the measure is about; one that stands for several is repeated.
    values : float array (p,)
    """

    name: str
    words: Words
    cell: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class MeasureTest:
    """A measure of every rule set, corrected for all of them.

    Attributes
    ----------
    values : Values
    cells : Cells
        People whom the measure is about, and sums of their values, per cell.
    n, total, squares : float arrays (S,)
        Of the people inside: how many, sum of their values, sum of squares.
    difference, low, high, z, adjusted_p : float arrays (S,)
        NaN (p 1) where inside or outside are fewer than two people whom the measure is about.
    known : bool array (S,)
    critical : float
        z-score for evidence.
    withheld : str
        Why no verdict rests on the labels that are known; empty where one may.
    cannot_clear : str
        Why they clear nobody; empty where they may.
    """

    values: Values
    cells: Cells
    n: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    z: np.ndarray
    adjusted_p: np.ndarray
    known: np.ndarray
    critical: float
    withheld: str = ""
    cannot_clear: str = ""

    @property
    def all_squares(self) -> float:
        """Sum of squares of everyone whom it is about."""
        return float((self.values.values**2).sum())


def measure_people(
    subject: Subject, cells: Cells, names: Sequence[Measure], functions: Mapping[str, Function]
) -> tuple[Values, ...]:
    """Return each measure's values of every person, in the order asked for.

    Raises
    ------
    InputError
        Without a label, or probabilities, where a measure needs them; a function that does not give a number
        (or NaN) for each person; weights that are not whole people.
    """
    if not names and not functions:
        return ()
    times = _times(subject.everyone)
    found = []
    for name in dict.fromkeys(names):
        found.append(_values(name, WORDS[name], values_of(subject, name), cells, times))
    for given, function in functions.items():
        values = np.asarray(function(subject), dtype=float)
        if values.shape != (subject.data.n,) or np.isinf(values).any():
            raise InputError(
                f"rule_sets.measures[{given!r}]",
                f"must return a finite number, or NaN, for each of {subject.data.n:,} people",
                values.shape if values.shape != (subject.data.n,) else "inf",
            )
        known = values[~np.isnan(values)]
        words = Words(given, "people it is about", bool(np.isin(known, (0.0, 1.0)).all()), given)
        found.append(_values(given, words, values, cells, times))
    return tuple(found)


def values_of(subject: Subject, name: Measure) -> np.ndarray:
    """Return one of the built-in measures of each person, (n,); NaN for those whom it is not about."""
    data, decisions = subject.data, np.asarray(subject.decisions, dtype=bool)
    argument = "rule_sets.measures"
    if name == "amount":
        if subject.score_kind != "number":
            advice = "name a column of numbers as model.predictions.score, or have a model predict one"
            raise InputError(argument, "amount needs numbers, not probabilities or labels", advice=advice)
        return subject.everyone.numbers  # of people without a label too, who come last
    if data.y is None:
        raise InputError(argument, f"{name} needs the label", advice="name data.label")
    y = np.asarray(data.y, dtype=bool)
    if name == "false_positive_rate":
        return np.where(y, np.nan, decisions)
    if name == "false_negative_rate":
        return np.where(y, ~decisions, np.nan)
    if name == "precision":
        return np.where(decisions, y, np.nan)
    if name == "squared_error" and subject.score_kind == "number" and data.cut is not None:
        sign = -1.0 if subject.higher_is == "unfavorable" else 1.0
        return (sign * subject.scores - data.frame[data.cut.column].to_numpy(dtype=float)) ** 2
    scores = np.asarray(subject.scores, dtype=float)
    if subject.score_kind == "label" or scores.min() < 0 or scores.max() > 1:
        raise InputError(argument, f"{name} needs scores that are probabilities", subject.score_kind)
    if name == "calibration_error":
        return y - scores
    if name == "squared_error":
        return (y - scores) ** 2
    return -np.log(np.clip(np.where(y, scores, 1 - scores), _CLIP, 1.0))


def _times(subject: Subject) -> np.ndarray | None:
    weights = subject.data.weights
    if weights is None:
        return None
    whole = np.rint(weights)
    if (np.abs(whole - weights) > 1e-9).any():
        raise InputError(
            "rule_sets.measures",
            "need weights that are whole numbers of people, because values are shuffled among people",
            float(weights[np.abs(whole - weights).argmax()]),
        )
    return whole.astype(np.int64)


def _values(name: str, words: Words, values: np.ndarray, cells: Cells, times: np.ndarray | None) -> Values:
    known = ~np.isnan(values)
    cell, values = cells.row_cell[: len(values)][known], values[known]
    if times is not None:
        cell, values = (np.repeat(each, times[: len(known)][known]) for each in (cell, values))
    return Values(name, words, cell, values)


def shared_draws(permutations: int, measures: int, level: float) -> int:
    """Return the shuffles of each of several measures: an equal part, but twice what evidence needs at least.

    Examples
    --------
    >>> shared_draws(999, 1, 0.05), shared_draws(999, 6, 0.05), shared_draws(19, 6, 0.05)
    (999, 240, 19)
    """
    least = int(np.ceil(2 * max(measures, 1) / level))
    return min(permutations, max(permutations // max(measures, 1), least))


def compared_values(
    values: Sequence[Values],
    groups: GroupSums,
    *,
    draws: int,
    level: float,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[MeasureTest, ...]:
    """Test every rule set by every measure; people are summed per cell once, groups over cells together."""
    if not values:
        return ()
    count = len(groups.cells.n)
    columns = [
        np.bincount(each.cell, weights, minlength=count)
        for each in values
        for weights in (None, each.values, each.values**2)
    ]
    sums = groups.of(np.column_stack(columns))
    found = []
    for place, each in enumerate(values):
        told = part(progress, place / len(values), (place + 1) / len(values))
        own = sums[:, 3 * place : 3 * place + 3]
        totals = [float(column.sum()) for column in columns[3 * place : 3 * place + 3]]
        cells = replace(groups.cells, n=columns[3 * place], favorable=columns[3 * place + 1])
        shuffled = partial(_maxima, each, groups, draws, rng, told)
        found.append(_test_measure(each, cells, own, totals, shuffled, level / len(values)))
    return tuple(found)


def _test_measure(
    values: Values,
    cells: Cells,
    own: np.ndarray,
    totals: list[float],
    shuffled: Callable[[float, np.ndarray], np.ndarray],
    level: float,
) -> MeasureTest:
    n, total, squares = own.T
    rest, rest_total, rest_squares = totals[0] - n, totals[1] - total, totals[2] - squares
    known = (n >= _MIN) & (rest >= _MIN)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside, outside = total / n, rest_total / rest
        difference = np.where(known, inside - outside, np.nan)
    factor = _factors(values.values, n, known)
    mean = float(values.values.mean()) if len(values.values) else 0.0
    z = (total - n * mean) * factor
    null = shuffled(mean, factor)
    p = np.where(known, adjusted_p_values(z, null), 1.0)
    edge = critical(null, level)
    if not np.isfinite(edge) or not null.any():
        edge = float(norm.isf(level / max(int(known.sum()), 1) / 2))
    low, high = np.full(len(n), np.nan), np.full(len(n), np.nan)
    cannot_clear = ""
    if values.words.share:
        counts = (side[known] for side in (total, n, rest_total, rest))
        low[known], high[known] = newcombe_ends(*counts, level=max(2 * float(norm.sf(edge)), 1e-12))
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            sides = [
                (size, np.maximum(square - size * mean_of**2, 0) / (size - 1) / size)
                for size, square, mean_of in ((n, squares, inside), (rest, rest_squares, outside))
            ]
        spread = sides[0][1] + sides[1][1]
        flat = 1e-12 * float(np.mean(values.values**2)) if len(values.values) else 0.0
        few = [(size < MIN) | ((size < ALIKE) & (own_spread * size <= flat)) for size, own_spread in sides]
        if (known & np.logical_or(*few)).any():
            cannot_clear = "a group has too few people, or few who are all alike, to rule out a difference"
        low = np.where(known, difference - edge * np.sqrt(spread), np.nan)
        high = np.where(known, difference + edge * np.sqrt(spread), np.nan)
    low[known], high[known] = agreeing(difference[known], low[known], high[known], p[known] <= level)
    return MeasureTest(
        values, cells, n, total, squares, difference, low, high, z, p, known, edge, cannot_clear=cannot_clear
    )


def _factors(values: np.ndarray, n: np.ndarray, known: np.ndarray) -> np.ndarray:
    """What turns a group's sum, less its share of the mean, into a z-score when values are shuffled, (S,)."""
    people = len(values)
    variance = float(values.var(ddof=1)) if people > 1 else 0.0
    spread = variance * n * (people - n) / max(people, 1)
    return np.where(known & (spread > 1e-300), 1 / np.sqrt(np.maximum(spread, 1e-300)), 0.0)


def _maxima(
    values: Values,
    groups: GroupSums,
    draws: int,
    rng: np.random.Generator,
    progress: Progress,
    mean: float,
    factor: np.ndarray,
) -> np.ndarray:
    """Largest absolute z-score of all rule sets in each of `draws` shuffles of the values, (draws,)."""
    largest = np.zeros(draws)
    if not factor.any():
        return largest
    count = len(groups.cells.n)
    apart = values.values - mean  # around 0, so that float32 loses nothing that matters
    scale: np.ndarray = factor.astype(np.float32)[:, None]
    block = max(1, _AT_ONCE // max(count, 1))
    for start in range(0, draws, block):
        size = min(block, draws - start)
        progress(start / draws, f"Shuffling values: {values.words.name.lower()}")
        table = np.empty((count, size), dtype=np.float32)
        for column in range(size):
            table[:, column] = np.bincount(values.cell, rng.permutation(apart), minlength=count)
        for chosen, columns, sums in groups.blocks(table):
            sums *= scale[chosen]
            there = slice(start + columns.start, start + columns.stop)
            largest[there] = np.maximum(largest[there], np.maximum(sums.max(0), -sums.min(0)))
    return largest
