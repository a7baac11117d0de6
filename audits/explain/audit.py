"""The explain audit: estimate what is left with all explainers, judge average and levels, draw cells."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from audits.checks import check_apart, generator, one_of
from audits.data import group_name
from audits.data.preprocessing.leakage import telling_features
from audits.data.values import MISSING
from audits.errors import InputError
from audits.explain.attribution import attribution
from audits.explain.bins import ColumnLevels, levels_of, values_of
from audits.explain.doubly_robust import (
    MIN,
    Contrast,
    Nuisance,
    TwoGroups,
    by_cells,
    by_learners,
    contrast,
    gap_of,
    reaches,
)
from audits.explain.options import ExplainOptions
from audits.explain.result import (
    Amount,
    Attribution,
    ExplainResult,
    LevelRow,
    Overlap,
    Remainder,
    ValueRow,
)
from audits.explain.text import (
    finding,
    left_out_text,
    no_clearance_text,
    telling_note,
    unknown_text,
    warnings_for,
)
from audits.models import Subject
from audits.models.labels import label_numbers
from audits.models.predictions import PredictedLabel, PredictedScore
from audits.models.subject import needs_cut
from audits.progress import Progress, part, silent
from audits.stats import (
    AVERAGE,
    EVIDENCE,
    INSUFFICIENT,
    NO_MATERIAL,
    Condition,
    Estimate,
    Judgment,
    judge,
    judge_conditions,
    limit_of,
    wilson,
)
from audits.stats.amounts import Quantities, amount_limit, mean_of
from audits.stats.design import design_share
from audits.stats.intervals import cautious_difference, percent_level
from audits.stats.selective import MAX_UNKNOWN, OutcomeSide, UnknownOutcomes, decision_side, unknown_outcomes
from audits.stats.text import people_in
from audits.stats.vocabulary import vocabulary

_MIN = 20  # people of each group
_COVERED = 0.8  # of the source
_IN_CELLS = 0.95  # of the source, where cells take the learners' place
_LEVEL_SHARE, _LEVEL_PEOPLE = 0.1, 50  # of the source
_LEVEL_TIMES = 2.0  # the limit of the average
_KNOWN = 0.2  # of the source, whose explainers are known
_MAX_VALUES = 30
_MAX_THIN = 5
_THE_SAME = 0.9999  # correlation of a column that holds the outcome


def explain(
    subject: Subject,
    options: ExplainOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> ExplainResult:
    """Say how much of a gap between two groups is left like for like.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit.
    options : ExplainOptions
        The two groups, and what may explain their gap.
    rng : Generator, int or None
        Deals people into folds; None is seed 0.
    progress : callable
        Called with the progress fraction; may raise to cancel.

    Returns
    -------
    ExplainResult

    Raises
    ------
    InputError
        A group is empty or shares people with the other; a column is unknown, is the outcome itself, or tells
        the groups apart; or the data have no label where labels are compared.
    """
    progress(0.0, "Scoring people")
    names, telling = _explainers(subject, options)
    people, first = people_of(subject, options, names)
    columns = {
        name: levels_of(subject.data.frame[name].iloc[first], subject.data.kinds[name], options.bins)
        for name in names
    }
    progress(0.1, "Learning what similar people of the target get")
    cell = people.cells()
    found = by_cells(people, cell)
    if _share(people, found.comparable) < _IN_CELLS:
        found = by_learners(people, generator(rng))
    progress(0.8, "Comparing levels")
    gap = _gap(people, np.ones(len(first), dtype=bool), options.level)
    overlap = _overlap(people, found, columns)
    average = contrast(people, found, found.comparable)
    exact = average is not None and _is_exact(subject, options, names)
    levels, told, left = _levels(people, found, columns, average, options)
    if exact:
        n = float(people.counts[people.source & found.comparable].sum())
        left = Estimate(0.0, 0.0, 0.0, n, "exact: the model reads nothing but these columns")
        levels, told = (), []
    together = _parts(people, found, names, left, options.level)
    covered = 1.0 if exact else overlap.share  # of what is known for everyone nothing is estimated
    unknown = _unknown(subject, options)
    judged = _judge(people, together.unexplained, told, covered, options, unknown)
    judged = _where_known(subject, people, found, columns, options, judged)
    source, target = group_name(options.source), group_name(options.target)
    rates = [_rate(people, side, options.level) for side in (people.source, ~people.source)]
    no_gap = subject.data.numeric is None and {rate.value for rate in rates} in ({0.0}, {1.0})
    why = "there is no gap to explain" if no_gap else no_clearance_text(len(names))
    judged = _not_cleared(judged, options, "" if options.explainers else why, telling)
    if subject.data.numeric is not None:
        judged = dataclasses.replace(judged, unit=subject.data.numeric.unit or subject.data.numeric.name)
    each = [_alone(people, name, columns[name], gap, options, len(names)) for name in names]
    each.sort(key=lambda item: (-_change(item, gap), item.name))
    result = ExplainResult(
        options=dataclasses.asdict(options),
        source=source,
        target=target,
        outcome=subject.outcome if options.outcome == "decision" or people.numeric else "favorable label",
        amount=_amount_of(subject, options, _limit(people, options)) if people.numeric else None,
        judged=judged,
        finding="",
        warnings=(),
        n_source=float(people.counts[people.source].sum()),
        n_target=float(people.counts[~people.source].sum()),
        rows={"audited": subject.data.n, "used": int((_sides(subject, options) >= 0).sum())},
        gap=gap,
        source_rate=rates[0],
        target_rate=rates[1],
        each=tuple(each),
        together=together,
        values=_values(people, columns[each[0].columns[0]], options.level) if each else (),
        levels=levels,
        overlap=overlap,
        attribution=_attribution(subject, options, generator(rng), progress) if options.attribution else None,
    )
    warned = (*telling_note(telling, options), *unknown.note(), *warnings_for(result))
    return dataclasses.replace(result, finding=finding(result), warnings=warned)


def _attribution(
    subject: Subject, options: ExplainOptions, rng: np.random.Generator, progress: Progress
) -> Attribution:
    if subject.data.numeric is not None:
        raise needs_cut(subject.data.numeric, "explain.attribution")
    if options.outcome != "decision":
        raise InputError(
            "explain.attribution", "applies to the model's scores, not to labels", True,
            "leave it out, or set outcome: decision",
        )  # fmt: skip
    return attribution(
        subject, _sides(subject, options), level=options.level, rng=rng, progress=part(progress, 0.85, 1.0)
    )


def _amount_of(subject: Subject, options: ExplainOptions, limit: float) -> Amount:
    """Return what sentences call a numeric outcome."""
    numeric = subject.data.numeric
    assert numeric is not None  # noqa: S101 - the caller has looked
    predicted = options.outcome == "decision" and subject.of_model
    return Amount(numeric.name, numeric.unit, predicted, limit)


def _sides(subject: Subject, options: ExplainOptions) -> np.ndarray:
    """1 for source people, 0 for target people, -1 for all others (n,)."""
    data = subject.data
    source = data.members(options.source, argument="explain.source")
    target = data.members(options.target, argument="explain.target")
    check_apart("explain", source, target, options.target)
    for side, mask in (("source", source), ("target", target)):
        if not mask.any():
            raise InputError(f"explain.{side}", "has nobody in the audited data", getattr(options, side))
    return np.where(source, 1, np.where(target, 0, -1))


def people_of(
    subject: Subject, options: ExplainOptions, names: tuple[str, ...]
) -> tuple[TwoGroups, np.ndarray]:
    """Return the people compared, equal rows as one, and a row of the data for each."""
    data, side = subject.data, _sides(subject, options)
    if options.outcome == "label" and data.y is None and data.number is None:
        raise InputError("explain.outcome", "is 'label', but the data have none", advice="set data.label")
    outcome = np.asarray(_outcome(subject, options), dtype=float)
    rows = np.flatnonzero((side >= 0) & np.isfinite(outcome))
    read = {name: values_of(data.frame[name].iloc[rows], data.kinds[name]) for name in sorted(names)}
    table = pd.DataFrame({k: found[0] for k, found in enumerate(read.values())}, index=range(len(rows)))
    keys = {"source": side[rows], "outcome": outcome[rows]}
    table = pd.concat([pd.DataFrame(keys), table], axis=1)
    order = table.sort_values(list(table.columns), kind="stable").index.to_numpy()
    sizes = data.row_weights[rows]
    design = data.design
    if design is None:
        group = table.groupby(list(table.columns), dropna=False, sort=True).ngroup().to_numpy()
        total = np.bincount(group, sizes)
        order = order[np.unique(group[order], return_index=True)[1]]
        counts = np.maximum(np.rint(total), 1).astype(np.int64)
        weight = total / counts
    else:
        counts, weight = np.ones(len(rows), dtype=np.int64), design.weights[rows][order]
        design = dataclasses.replace(design, weights=weight, cluster=design.cluster[rows][order])
    table = table.iloc[order].reset_index(drop=True)
    values = table.drop(columns=["source", "outcome"]).set_axis(list(read), axis=1)
    categories = tuple(found[1] for found in read.values())
    side = table["source"].to_numpy() == 1
    numeric = data.numeric is not None
    people = TwoGroups(values, categories, side, table["outcome"].to_numpy(), counts, weight, design, numeric)
    return people, rows[order]


def _outcome(subject: Subject, options: ExplainOptions) -> np.ndarray:
    """Return the outcome of everyone (n,): decisions or labels, or numbers of either."""
    data = subject.data
    if data.numeric is not None:
        return subject.numbers if options.outcome == "decision" else label_numbers(data)
    return np.asarray(subject.decisions if options.outcome == "decision" else data.y)


def _explainers(subject: Subject, options: ExplainOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns that may explain, named ones or features by their roles, and those that tell the outcome."""
    data = subject.data
    apart = {*options.source, *options.target}
    if options.explainers is None:
        barred = {*apart, *data.protected}
        names = [
            name
            for name in data.features
            if name not in barred
            and data.roles.get(name) != "immutable"
            and not _says_nothing(subject, name, options.outcome)
        ]
        telling = _telling(subject, options, names)
        return tuple(name for name in names if name not in telling), telling
    for name in options.explainers:
        one_of("explain.explainers", name, data.frame.columns, what="a column of the data")
        if name in apart:
            rule = "must not name the attribute that defines the groups"
            raise InputError("explain.explainers", rule, name, "leave it out")
        if name in _outcomes(subject, options.outcome):
            raise InputError("explain.explainers", "must not name the outcome itself", name, "leave it out")
    names = list(dict.fromkeys(options.explainers))
    return tuple(names), _telling(subject, options, names)


def filled_explainers(options: ExplainOptions, subject: Subject) -> list[str]:
    """Return the explainers with cells that were filled in, unless the outcome came from them."""
    names = _explainers(subject, options)[0]
    if _is_exact(subject, options, names):
        return []
    filled = subject.data.written.filled if options.outcome == "label" else subject.unseen_fills
    return [name for name in names if name in filled]


def _telling(subject: Subject, options: ExplainOptions, names: Sequence[str]) -> tuple[str, ...]:
    """Columns each of which predicts the outcome almost without error, and no model reads them."""
    data = subject.data
    decided = options.outcome == "decision"
    if data.numeric is not None or (decided and subject.model.invents):
        return ()
    outcome = subject.decisions if decided else data.y
    if outcome is None:
        return ()
    compared = _sides(subject, options) >= 0
    counts = None if data.weights is None else data.weights[compared]
    told = telling_features(data.frame[compared], names, np.asarray(outcome, dtype=bool)[compared], counts)
    return tuple(told)


def _outcomes(subject: Subject, *kinds: str) -> set[str]:
    """Columns that hold the decision or the label."""
    found: set[str | None] = set()
    if "decision" in kinds and isinstance(subject.model, (PredictedLabel, PredictedScore)):
        found.add(subject.model.column)
    if "label" in kinds:
        found |= {subject.data.label, subject.data.number}
    return {name for name in found if name is not None}


def _says_nothing(subject: Subject, name: str, outcome: str) -> bool:
    """Whether a column is an identifier, numbers the rows, or holds the label of what was decided."""
    data = subject.data
    column = data.frame[name]
    if data.kinds[name] in ("identifier", "text") or name in _outcomes(subject, "decision", "label"):
        return True
    if data.kinds[name] == "integer" and column.is_unique and len(column) > _MIN:
        return len(np.unique(np.diff(column.to_numpy()))) == 1
    if data.numeric is not None:
        return _is_the_number(subject, column)
    # what a model reads is a reason, and what tells the outcome is named as such
    y = data.y
    if subject.model.invents or outcome == "label" or y is None or np.array_equal(y, subject.decisions):
        return False
    code = pd.factorize(column)[0]
    return bool(code.min() == 0 and code.max() == 1 and len(set(zip(code, y, strict=True))) == 2)


def _is_the_number(subject: Subject, column: pd.Series) -> bool:
    """Whether a column is the numeric outcome on another scale."""
    if not pd.api.types.is_numeric_dtype(column.dtype) or column.nunique() < _MIN:
        return False
    values = column.to_numpy(dtype=float, na_value=np.nan)
    known = np.isfinite(values)
    return bool(known.sum() > 2 and abs(np.corrcoef(values[known], subject.numbers[known])[0, 1]) > _THE_SAME)


def _is_exact(subject: Subject, options: ExplainOptions, names: tuple[str, ...]) -> bool:
    """Whether the model's decision follows from the explainers alone."""
    model, apart = subject.model, {*options.source, *options.target}
    asked = options.outcome == "decision" and model.invents and not isinstance(subject.threshold, Mapping)
    return asked and not apart & set(model.columns) and set(model.columns) <= set(names)


def _share(people: TwoGroups, inside: np.ndarray, among: np.ndarray | None = None) -> float:
    """Share of source people (`among` (n,)) who are inside."""
    source = people.source if among is None else people.source & among
    size = people.size
    return float(size[source & inside].sum() / max(size[source].sum(), 1e-300))


def _overlap(people: TwoGroups, found: Nuisance, columns: dict[str, ColumnLevels]) -> Overlap:
    share = _share(people, found.comparable)
    thin = []
    for name, column in columns.items():
        for k, level in enumerate(column.names):
            here = column.code == k
            part = _share(people, found.comparable, here)
            if (people.source & here).any() and part < _COVERED:
                thin.append((name, level, part))
    return Overlap(share, tuple(sorted(thin, key=lambda item: item[2])[:_MAX_THIN]))


def _estimate(found: Contrast | None, level: float, method: str, reach: float | None = None) -> Estimate:
    """Return the interval of `reach` standard errors; by default by Student's t, as few people are uneven."""
    if found is None:
        return Estimate(None, None, None, 0.0, "nobody comparable in both groups")
    if found.numeric and found.error == 0:  # nobody has shown how far numbers reach
        return Estimate(found.value, None, None, found.people, "no interval: there is no spread")
    low, high = found.ends(float(stdtrit(found.freedom, 1 - level / 2)) if reach is None else reach)
    return Estimate(found.value, low, high, found.people, f"{method}, {percent_level(level)}")


def _gap(people: TwoGroups, inside: np.ndarray, level: float) -> Estimate:
    """Difference of the two groups' rates, or means, among those inside (n,)."""
    if people.design is not None or people.numeric:
        what = "difference of means" if people.numeric else "difference of rates, by design"
        return _estimate(gap_of(people, inside), level, what)
    (n, favored), (m, others) = (_counted(people, side & inside) for side in (people.source, ~people.source))
    if not n or not m:
        return Estimate(None, None, None, n + m, "nobody of one group")
    return cautious_difference(favored, n, others, m, level=level)


def _counted(people: TwoGroups, inside: np.ndarray) -> tuple[float, float]:
    """Return how many are `inside` (n,), and the sum of their outcomes: how many are favored."""
    size = people.size[inside]
    return float(size.sum()), float(size @ people.outcome[inside])


def _rate(people: TwoGroups, side: np.ndarray, level: float) -> Estimate:
    if people.numeric:
        return mean_of(Quantities(people.outcome, people.size, people.design), side, level=level)
    if people.design is not None:
        return design_share(people.design, side, people.outcome > 0.5, level=level).estimate
    n, favored = _counted(people, side)
    return wilson(favored, n, level=level)


def _parts(
    people: TwoGroups, found: Nuisance, names: tuple[str, ...], left: Estimate, level: float
) -> Remainder:
    """Split the gap into what goes with the explainers, what is left, and what nobody is comparable in."""
    inside = found.comparable
    own = contrast(people, found, inside)
    share = _share(people, inside)
    whole, among = (gap_of(people, each | ~people.source) for each in (np.ones_like(inside), inside))
    if own is None or whole is None or among is None:
        nothing = Estimate(None, None, None, 0.0, "nobody comparable in both groups")
        return Remainder(names, nothing, left, nothing, share)
    exact = left.value == left.low == left.high
    explained = _estimate(among if exact else among.minus(own), level, found.method)
    lonely = _estimate(whole.minus(among), level, "source people without comparable target people")
    return Remainder(names, explained, left, lonely, share)


Told = list[tuple[Condition, bool]]
"""What is told of the average and of levels, and whether it counts for the verdict."""


def _condition(
    people: TwoGroups,
    inside: np.ndarray,
    name: str,
    interval: Estimate,
    p: float,
    times: float,
    options: ExplainOptions,
) -> Condition:
    """Hold what is left among those `inside` (n,) to so many times the limit."""
    n, favored = _counted(people, inside & people.source)
    alike = favored / n - (interval.value or 0.0)
    overall = float(np.average(people.outcome, weights=people.size))
    if people.numeric:
        high = _limit(people, options)
        low = -high
    else:
        low, high = limit_of(options.material, options.material_on, rate=max(alike, 0.0), overall=overall)
    immaterial = (times * low, times * high)
    return Condition(name=name, interval=interval, immaterial=immaterial, times=times, p_value=p)


def _limit(people: TwoGroups, options: ExplainOptions) -> float:
    """Return the smallest difference that matters: of shares, or of numbers beside the target's mean."""
    if not people.numeric:
        return options.material
    theirs = ~people.source
    mean = float(np.average(people.outcome[theirs], weights=people.size[theirs]))
    return amount_limit(options.material_amount, mean, "explain.material_amount")


def _levels(
    people: TwoGroups,
    found: Nuisance,
    columns: dict[str, ColumnLevels],
    average: Contrast | None,
    options: ExplainOptions,
) -> tuple[tuple[LevelRow, ...], Told, Estimate]:
    """Return the levels, what would have to be told with more people, and the average's interval."""
    if average is None:
        return (), [], _estimate(None, options.level, found.method)
    units = people.units
    total, rows, large = units[people.source].sum(), list[LevelRow](), list[tuple[str, str, Contrast, bool]]()
    for name, column in sorted(columns.items()):
        for k, level in enumerate(column.names):
            here = (column.code == k) & people.source
            n, share = units[here].sum(), _share(people, found.comparable, here)
            known = (column.code == k) & found.comparable
            part = contrast(people, found, known) if n else None
            small = n < max(_LEVEL_SHARE * total, MIN)
            if part is None or share < _COVERED or small:
                why = f"too few {'' if small else 'comparable '}people"
                few = Estimate(None, None, None, float(units[here & known].sum()), why)
                if n:
                    rows.append(LevelRow(name, level, few.n, few, INSUFFICIENT, covered=False))
            elif part.people < average.people:
                large.append((name, level, part, bool(n >= _LEVEL_PEOPLE)))
    counted = [part for _, _, part, counts in large if counts]
    (reach, p), *later = reaches([average, *counted], options.level, options.draws)
    left = _estimate(average, options.level, found.method, reach)
    told = [(_condition(people, found.comparable, AVERAGE, left, p, 1.0, options), True)]
    own, wide = iter(later), max([reach, *(each for each, _ in later)])
    for name, level, part, counts in large:
        reach, p = next(own) if counts else (wide, 1.0)
        interval = _estimate(part, options.level, f"{found.method}, simultaneous", reach)
        here = (columns[name].code == columns[name].names.index(level)) & found.comparable
        condition = _condition(people, here, f"level: {name} {level}", interval, p, _LEVEL_TIMES, options)
        told.append((condition, counts))
        verdict = judge(interval, immaterial=condition.immaterial).verdict if counts else INSUFFICIENT
        shown = interval if counts else Estimate(part.value, None, None, part.people, "too few people")
        rows.append(LevelRow(name, level, part.people, shown, verdict, covered=counts))
    place = {name: k for k, name in enumerate(columns)}
    rows.sort(key=lambda row: (place[row.attribute], columns[row.attribute].names.index(row.level)))
    return tuple(rows), told, left


def _judge(
    people: TwoGroups,
    left: Estimate,
    told: Told,
    covered: float,
    options: ExplainOptions,
    unknown: UnknownOutcomes,
) -> Judgment:
    """Judge the average, and every level that is covered."""
    few = min(people.units[people.source].sum(), people.units[~people.source].sum())
    withheld = unknown.withheld
    if few < _MIN:
        withheld = f"a group has fewer than {_MIN} {vocabulary().people}"
    elif covered < _COVERED:
        whose = people_in(group_name(options.source))
        withheld = f"only {100 * covered:.0f}% of {whose} have comparable {vocabulary().people}"
    elif left.low is None and not withheld:
        withheld = left.method.removeprefix("no interval: ")
    limit = _limit(people, options)
    alone = Condition(name=AVERAGE, interval=left, immaterial=(-limit, limit))
    judged = judge_conditions(
        [condition for condition, counts in told if counts] or [alone],
        level=options.level,
        people_needed=_people_needed(float(few), told),
        only_estimated=withheld,
        cannot_clear=unknown.cannot_clear,
    )
    return dataclasses.replace(judged, people_of=f"{vocabulary().people} in each group")


def _where_known(
    subject: Subject,
    people: TwoGroups,
    found: Nuisance,
    columns: dict[str, ColumnLevels],
    options: ExplainOptions,
    judged: Judgment,
) -> Judgment:
    """Return the judgment without evidence of stored outcomes that does not show where explainers are known.

    People of whom a column is missing are compared with each other; whoever decided on them may know it.
    """
    gaps = {
        name: column.code == len(column.names) - 1
        for name, column in columns.items()
        if column.names[-1:] == (MISSING,)
    }
    shares = {name: _share(people, gap) for name, gap in gaps.items()}
    inside, names = found.comparable, list[str]()
    for name in sorted(gaps, key=lambda name: (-shares[name], name)):
        known = inside & ~gaps[name]
        if shares[name] >= MAX_UNKNOWN and _share(people, known) >= _KNOWN:
            inside = known
            names.append(name)
    stored = options.outcome == "label" or not subject.model.invents
    if judged.verdict != EVIDENCE or not stored or not names:
        return judged
    among = dataclasses.replace(found, comparable=inside)
    told = _levels(people, among, columns, contrast(people, among, inside), options)[1]
    counted = [condition for condition, counts in told if counts]
    if counted and judge_conditions(counted, level=options.level).verdict == EVIDENCE:
        return judged
    return dataclasses.replace(judged, verdict=INSUFFICIENT, people_needed=None, reason=unknown_text(names))


def _not_cleared(judged: Judgment, options: ExplainOptions, why: str, telling: Sequence[str]) -> Judgment:
    """Return the judgment without an all-clear by columns that nobody named (`why`).

    Nor does it accuse where a column was left out that is either the outcome or the only reason for it.
    """
    why = why if judged.verdict == NO_MATERIAL else ""
    if telling and options.explainers is None:
        why = left_out_text(telling)
    return (
        dataclasses.replace(judged, verdict=INSUFFICIENT, people_needed=None, reason=why) if why else judged
    )


def _unknown(subject: Subject, options: ExplainOptions) -> UnknownOutcomes:
    """Return whose outcome is not known: rows that were left out, unless predictions are compared."""
    data = subject.data
    if data.unlabeled is None or (options.outcome == "decision" and data.numeric is None):
        return UnknownOutcomes()
    side = _sides(dataclasses.replace(subject, data=data.everyone), options)
    sizes = np.ones(len(side))
    if data.weights is not None and data.unlabeled.weights is not None:
        sizes = np.concatenate([data.weights, data.unlabeled.weights])
    compared, known = side >= 0, np.arange(len(side)) < data.n
    looked_at = [OutcomeSide(side[compared] == 1, people_in(group_name(options.source)))]
    if data.numeric is None:
        looked_at.append(decision_side(subject.everyone.decisions[compared], known[compared]))
    return unknown_outcomes(known[compared], sizes[compared], looked_at, level=options.level)


def _people_needed(few: float, told: Told) -> int | None:
    """People of each group with whom every interval that settles nothing would be short enough to.

    An interval no longer than the distance from 0 to its limit leaves out 0 or lies inside the limit.
    """
    times = []
    for condition, _ in told:
        interval, (low, high) = condition.interval, condition.immaterial
        if interval.low is not None and interval.high is not None and min(-low, high) > 0:
            times.append(((interval.high - interval.low) / min(-low, high)) ** 2)
    return int(np.ceil(few * max(1.1 * max(times), 1.1) / 10) * 10) if times else None


def _alone(
    people: TwoGroups,
    name: str,
    column: ColumnLevels,
    gap: Estimate,
    options: ExplainOptions,
    columns: int,
) -> Remainder:
    """Split the gap by the levels of one column."""
    found = by_cells(people, column.code)
    level = options.level / columns
    own = contrast(people, found, found.comparable)
    left = _estimate(own, level, "by level")
    parts = _parts(people, found, (name,), left, level)
    if own is None:
        return parts
    size, inside = people.size, found.comparable
    sides = [inside & people.source, inside & ~people.source]
    shares = [np.bincount(column.code[side], size[side], len(column.names)) for side in sides]
    sums = [
        np.bincount(column.code[side], (size * people.outcome)[side], len(column.names)) for side in sides
    ]
    met = (shares[0] > 0) & (shares[1] > 0)
    apart = sums[0][met] / shares[0][met] - sums[1][met] / shares[1][met]
    weights = [share[met] / max(share[met].sum(), 1e-300) for share in shares]
    as_target, as_both = float(weights[1] @ apart), float((weights[0] + weights[1]) @ apart / 2)
    kind = _kind(gap, left, (as_target, as_both), parts.source_covered, _limit(people, options))
    return dataclasses.replace(parts, as_target=as_target, as_both=as_both, kind=kind)


def _kind(gap: Estimate, left: Estimate, others: tuple[float, float], covered: float, material: float) -> str:
    """Whether a sure gap turns round by every weighting, or all but vanishes."""
    if gap.value is None or gap.low is None or gap.high is None or covered < _COVERED:
        return ""
    if gap.low <= 0 <= gap.high or left.value is None or left.low is None or left.high is None:
        return ""
    way = np.sign(gap.value)
    if max(way * each for each in (left.low, left.high, *others)) < 0:
        return "reversed"
    small = abs(left.value) < abs(gap.value) / 4
    return "about 0 within" if small and -material <= left.low and left.high <= material else ""


def _change(item: Remainder, gap: Estimate) -> float:
    """By how much a column changes the gap; columns that cover few people come last."""
    if item.source_covered < _COVERED or item.unexplained.value is None:
        return -1.0
    return abs((gap.value or 0.0) - item.unexplained.value)


def _values(people: TwoGroups, column: ColumnLevels, level: float) -> tuple[ValueRow, ...]:
    """Both groups at the largest levels of one column."""
    size = people.size
    most = np.argsort(-np.bincount(column.code, size, len(column.names)), kind="stable")[:_MAX_VALUES]
    rows = []
    for k in sorted(most):
        here = column.code == k
        if not here.any():
            continue
        both = [_counted(people, here & side) for side in (people.source, ~people.source)]
        rates = [favored / n if n else None for n, favored in both]
        difference = _gap(people, here, level / len(most))
        (n, m), (own, other) = (each[0] for each in both), rates
        rows.append(ValueRow(column.names[k], n, m, own, other, difference))
    return tuple(rows)
