"""The audit: who gets another decision when one word is changed, group by group."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import bdtr, stdtrit

from audits.attribute_swap import text
from audits.attribute_swap.options import AttributeSwapOptions
from audits.attribute_swap.result import AttributeSwapResult, SwapRow
from audits.checks import one_of
from audits.data import AuditData, group_name
from audits.data.frames import with_columns
from audits.data.preprocessing.groups import cut
from audits.data.values import MISSING
from audits.errors import InputError
from audits.models import Subject
from audits.progress import Progress, silent
from audits.stats import (
    EVIDENCE,
    INSUFFICIENT,
    NO_MATERIAL,
    Condition,
    Estimate,
    Judgment,
    judge,
    judge_conditions,
    limit_of,
    sign_balance,
    wilson,
)
from audits.stats.design import Design, design_mean, design_share
from audits.stats.intervals import percent_level
from audits.stats.means import mean_test, missed_share
from audits.stats.power import times_to_settle
from audits.stats.text import people_in
from audits.subgroups.binning import number_edges
from audits.subgroups.texts import TERMS, Vocabulary

_MAX_VALUES, _BINS = 10, 4  # of a number before it is cut, and into how many
_MIN, _MAX_ROWS = 20, 200  # people of a group within, and groups shown
_COVERED_PEOPLE, _COVERED_SHARE = 50, 0.1  # of those with the value: an all-clear holds for such a group
_GROSS = 2  # times the limit of the net share
_ROUNDING = 1e-12  # of the largest score: what is left of no spread


@dataclass(frozen=True, eq=False)
class _Attribute:
    """What can be changed: who holds which value, and how a table looks with another one.

    Attributes
    ----------
    columns : tuple of str
        Protected attributes that change; none where terms of a text do.
    held : mapping of str to mask (n,)
    donors : mapping of str to mapping of str to int
        Values that can be given: by column, the position of someone who has it.
    texts : tuple, optional
        Column, place of the category, and vocabulary of terms.
    read : bool
        Whether the model, or a threshold by group, reads it.
    """

    name: str
    columns: tuple[str, ...]
    held: Mapping[str, np.ndarray]
    donors: Mapping[str, Mapping[str, int]]
    texts: tuple[str, int, Vocabulary] | None = None
    read: bool = True

    def given(self, data: AuditData, rows: np.ndarray, value: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the rows with `value`, and the groups that they then belong to."""
        made, groups = data.frame.iloc[rows], data.groups.iloc[rows]
        if self.texts is not None:
            column, place, vocabulary = self.texts
            said = made[column].fillna("").astype(str)
            new = [vocabulary.exchanged(text, {place: value}) for text in said]
            return with_columns(made, {column: pd.Series(new, index=made.index)}), groups
        for column, donor in self.donors[value].items():
            if column in made:
                copies = data.frame[column].take(np.full(len(rows), donor))
                made = with_columns(made, {column: copies.set_axis(made.index)})
            groups = with_columns(groups, {column: data.groups[column].iloc[donor]})
        return made, groups


@dataclass(frozen=True, eq=False)
class _Swap:
    """A value exchanged for another: whose, and their scores and decisions with it, all (n,)."""

    attribute: _Attribute
    source: str
    target: str
    members: np.ndarray
    score: np.ndarray
    decision: np.ndarray


@dataclass(frozen=True, eq=False)
class _Group:
    """Those whose numbers a row states: everyone with a value, or a group within."""

    swap: _Swap
    members: np.ndarray
    where: dict[str, str]  # protected values that make the group, as far as columns do
    people: float
    within: bool = False
    covered: bool = True  # by an all-clear

    @property
    def name(self) -> str:
        """The value, and those of other attributes."""
        columns = self.swap.attribute.columns
        own = [] if len(columns) == 1 else [self.swap.source if columns else f"“{self.swap.source}”"]
        return " & ".join(filter(None, [*own, group_name(self.where)]))


def attribute_swap(
    subject: Subject,
    options: AttributeSwapOptions,
    *,
    rng: np.random.Generator | int | None = None,  # noqa: ARG001 - nothing is by chance
    progress: Progress = silent,
) -> AttributeSwapResult:
    """Give each person every other value of a protected attribute, and count whose decision changes.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit.
    options : AttributeSwapOptions
    rng : Generator, int or None
        Not used.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Returns
    -------
    AttributeSwapResult
        A net share of 0 says that as many gain the favorable decision as lose it.

    Raises
    ------
    InputError
        The model is a column of predictions, or an attribute is unknown or has one value only.
    """
    if not subject.model.invents:
        raise InputError(
            "model",
            "must be a model that can be asked, not a column of predictions",
            advice="upload or train one",
        )
    data = subject.data
    attributes = _attributes(subject, options)
    pairs = _pairs(attributes, _people_of(data))
    asked = pairs[: options.max_pairs]
    swaps = list(_ask(subject, asked, progress))
    progress(0.9, "Counting by group")
    protected = _of_columns(subject, data.protected)
    groups = _groups(swaps, protected, _people_of(data), data.design)
    shown = groups[:_MAX_ROWS]
    looks = max(sum(group.swap.attribute.read for group in shown), 1)
    largest = _largest_changes(subject, swaps)
    rows = [_row(subject, group, options.level, looks, largest[_exchanged(group.swap)]) for group in shown]
    not_asked = _not_asked(attributes, shown, len(pairs), _people_of(data))
    judged = _judge(rows, options, not_asked)
    if not_asked:  # nor does a change between two models clear values that neither was asked about
        judged = replace(judged, missing=((NO_MATERIAL, not_asked),))
    notes = text.notes(
        rows,
        pairs_left=len(pairs) - len(asked),
        groups_left=len(groups) - len(shown),
        stand_ins=_stand_ins(subject, attributes),
    )
    return AttributeSwapResult(
        options=asdict(options),
        judged=judged,
        finding=text.finding(rows, judged, looks),
        warnings=tuple(notes),
        rows={"audited": data.rows, "used": data.rows, "left_out": {}},
        swaps=tuple(rows),
        pairs=len(pairs),
        pairs_asked=len(asked),
        people=_people(subject, swaps, protected),
    )


def _people_of(data: AuditData) -> np.ndarray:
    """Return how many people each row stands for; under a design, rows in proportion to their weights."""
    if data.design is not None:
        return np.asarray(data.design.weights * (data.n / data.design.weights.sum()))
    return data.row_weights


def _attributes(subject: Subject, options: AttributeSwapOptions) -> list[_Attribute]:
    """Return what is to be changed: protected attributes, or categories of terms in a text."""
    names = (options.attribute,) if isinstance(options.attribute, str) else options.attribute
    data, column = subject.data, options.text
    if column is None and [data.kinds.get(name) for name in subject.model.columns] == ["text"]:
        column = subject.model.columns[0]
    if column is not None:
        return _of_texts(subject, column, options, names)
    chosen = data.protected if names is None else tuple(dict.fromkeys(names))
    if not chosen:
        advice = "set data.protected"
        raise InputError("attribute_swap.attribute", "must name a protected attribute", advice=advice)
    for name in chosen:
        one_of("attribute_swap.attribute", name, data.protected, what="a protected attribute")
    found = _of_columns(subject, chosen)
    return [_combine(found)] if options.together and len(found) > 1 else found


def _of_columns(subject: Subject, names: Iterable[str]) -> list[_Attribute]:
    data, people = subject.data, _people_of(subject.data)
    by = () if isinstance(subject.threshold, (int, float)) else tuple(subject.threshold)
    found = []
    for name in names:
        text, raw = data.groups[name], data.frame[name] if name in data.frame else data.groups[name]
        number = data.kinds.get(name) in {"integer", "continuous"} and pd.api.types.is_numeric_dtype(raw)
        binned = number and (name in data.bins or raw.nunique() > _MAX_VALUES)
        if binned and name not in data.bins:
            known, whole = raw.notna().to_numpy(), data.kinds[name] == "integer"
            values = raw[known].to_numpy(dtype=float)
            edges = number_edges(values, _BINS, "quantile", whole=whole, times=people[known])
            text = cut(raw, edges.tolist()).fillna(MISSING)
        values = text.to_numpy(dtype=object)
        held = {str(value): values == value for value in sorted(pd.unique(values))}
        donors = {
            value: {name: _median(raw, mask, people) if binned else int(mask.argmax())}
            for value, mask in held.items()
            if value != MISSING
        }
        found.append(_Attribute(name, (name,), held, donors, read=name in {*subject.model.columns, *by}))
    return found


def _median(raw: pd.Series, mask: np.ndarray, people: np.ndarray) -> int:
    """Return the position of someone in a bin who has its median, a value that occurs."""
    places = np.flatnonzero(mask)
    places = places[np.argsort(raw.to_numpy(dtype=float)[places], kind="stable")]
    upto = people[places].cumsum()
    return int(places[np.searchsorted(upto, upto[-1] / 2 - 1e-9)])


def _combine(parts: Sequence[_Attribute]) -> _Attribute:
    """Return several attributes as one, whose values are the combinations that occur."""
    held, donors = {}, {}
    for values in itertools.product(*(part.donors for part in parts)):
        pairs = list(zip(parts, values, strict=True))
        mask = np.logical_and.reduce([part.held[value] for part, value in pairs])
        if mask.any():
            name = group_name({part.name: value for part, value in pairs})
            held[name] = mask
            donors[name] = {part.name: part.donors[value][part.name] for part, value in pairs}
    names = tuple(part.name for part in parts)
    return _Attribute(" × ".join(names), names, held, donors, read=any(part.read for part in parts))


def _of_texts(
    subject: Subject, column: str, options: AttributeSwapOptions, names: Sequence[str] | None
) -> list[_Attribute]:
    """Return the categories of identity terms, with those that some text holds."""
    one_of("attribute_swap.text", column, subject.data.frame.columns, what="a column of the data")
    vocabulary = Vocabulary(TERMS if options.terms is None else options.terms)
    for name in names or ():
        one_of("attribute_swap.attribute", name, vocabulary.categories, what="a category of identity terms")
    codes, texts = pd.factorize(subject.data.frame[column].fillna("").astype(str))
    terms = [vocabulary.found(text) for text in texts]
    found = []
    for place, name in enumerate(vocabulary.categories):
        known = sorted({term for each in terms for term in each[place]})
        held = {term: np.array([term in each[place] for each in terms])[codes] for term in known}
        donors: dict[str, dict[str, int]] = {term: {} for term in known}
        read = column in subject.model.columns
        found.append(_Attribute(name, (), held, donors, (column, place, vocabulary), read))
    return [item for item in found if names is None or item.name in names]


_Pair = tuple[_Attribute, str, str]


def _pairs(attributes: Sequence[_Attribute], people: np.ndarray) -> list[_Pair]:
    """Return all pairs of values, those of the largest groups first, each attribute in turn."""
    found = []
    for item in attributes:
        size = {value: float(people[mask].sum()) for value, mask in item.held.items()}
        own = [(-min(size[a], size[b]), a, b) for a in item.held for b in item.donors if a != b]
        found += [(rank, least, item, a, b) for rank, (least, a, b) in enumerate(sorted(own))]
    if not found:
        raise InputError(
            "attribute_swap.attribute",
            "must have two values among the people audited",
            [item.name for item in attributes],
            "name another attribute, or audit more rows",
        )
    return [each[2:] for each in sorted(found, key=lambda each: each[:2])]


def _ask(subject: Subject, pairs: Sequence[_Pair], progress: Progress) -> Iterator[_Swap]:
    """Yield each pair with what the model says; people who get one value are asked about together."""
    known: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}
    for at, (item, source, target) in enumerate(pairs):
        progress(0.9 * at / len(pairs), "Asking the model about changed people")
        if (item.name, target) not in known:
            score, decision = subject.scores.copy(), np.array(subject.decisions, dtype=bool)
            whose = [item.held[a] for other, a, b in pairs if other is item and b == target]
            rows = np.flatnonzero(np.logical_or.reduce(whose))
            if item.read:
                made, groups = item.given(subject.data, rows, target)
                score[rows] = _scores(subject, made)
                decision[rows] = subject.decide(score[rows], groups)
            known[item.name, target] = score, decision
        yield _Swap(item, source, target, item.held[source], *known[item.name, target])


def _scores(subject: Subject, made: pd.DataFrame) -> np.ndarray:
    """Return scores of rows, of which those that the model cannot tell apart are asked about once."""
    read = [name for name in subject.model.columns if name in made]
    if subject.data.written.others or not read:  # a missing cell may stand for several texts
        return subject.favorable_score(made)
    codes = made.rename_axis(None).groupby(read, dropna=False, sort=False, observed=True).ngroup().to_numpy()
    first = np.unique(codes, return_index=True)[1]
    return subject.favorable_score(made.iloc[first])[codes]


def _groups(
    swaps: Sequence[_Swap], protected: Sequence[_Attribute], people: np.ndarray, design: Design | None
) -> list[_Group]:
    """Return whose numbers are stated: everyone with the value, then groups within, the largest first."""
    whole, within = [], []
    for swap in swaps:
        columns = swap.attribute.columns
        own = {columns[0]: swap.source} if len(columns) == 1 else {}
        everybody = float(people[swap.members].sum())
        whole.append(_Group(swap, swap.members, own, everybody))
        others = [item for item in protected if item.name not in columns]
        for where, mask in _cells(swap.members, others, people):
            known = {**own, **where}
            ordered = {item.name: known[item.name] for item in protected if item.name in known}
            n = float(people[mask].sum())
            independent = n if design is None else float(design.holding(mask).sum())
            covered = independent >= _COVERED_PEOPLE and n >= _COVERED_SHARE * everybody
            within.append(_Group(swap, mask, ordered, n, within=True, covered=covered))
    within.sort(key=lambda each: -each.people)
    return [*whole, *within]


_Cell = tuple[dict[str, str], np.ndarray]


def _cells(members: np.ndarray, others: Sequence[_Attribute], people: np.ndarray) -> list[_Cell]:
    """Return groups by other attributes: by as many as leave half of the people in groups large enough."""
    for most in range(len(others), 0, -1):
        cells: list[_Cell] = [({}, members)]
        for item in others[:most]:
            finer = [
                ({**where, item.name: value}, inside & own)
                for where, inside in cells
                for value, own in item.held.items()
            ]
            cells = [each for each in finer if people[each[1]].sum() >= _MIN]
        if sum(people[mask].sum() for _, mask in cells) >= people[members].sum() / 2:
            return cells
    return []


def _exchanged(swap: _Swap) -> tuple[str, frozenset[str]]:
    return swap.attribute.name, frozenset((swap.source, swap.target))


def _largest_changes(subject: Subject, swaps: Sequence[_Swap]) -> dict[tuple[str, frozenset[str]], float]:
    """Return anybody's largest change of score where two values are exchanged, either way."""
    found: dict[tuple[str, frozenset[str]], float] = {}
    for swap in swaps:
        change = float(np.abs(swap.score - subject.scores).max())
        found[_exchanged(swap)] = max(change, found.get(_exchanged(swap), 0.0))
    return found


def _row(subject: Subject, group: _Group, level: float, looks: int, largest: float) -> SwapRow:
    swap, mask, each = group.swap, group.members, level / looks
    now, then = np.asarray(subject.decisions, dtype=bool), swap.decision
    events = (now, then, then & ~now, now & ~then, then != now)
    shares = [_share(subject, mask, event, each) for event in events]
    net, p = _net(subject, mask, events[2:4], each)
    numbers = [*shares, net, _mean(subject, mask, swap.score, each, largest)]
    said = percent_level(level) + (", all groups together" if looks > 1 else "")
    numbers = [replace(one, method=one.method.replace(percent_level(each), said)) for one in numbers]
    if not swap.attribute.read:
        numbers[2:] = [replace(one, value=0.0, low=0.0, high=0.0, method=text.EXACT) for one in numbers[2:]]
    where = group.where if len(swap.attribute.columns) == 1 else {}
    before, after, gained, lost, changed, net, score = numbers
    counted = subject.data.design is None
    n = group.people if counted else _counts(subject, mask, events[2:4])[-1]
    return SwapRow(
        swap.attribute.name, swap.source, swap.target, group.name, where, n, swap.attribute.read,
        before, after, gained, lost, changed, net, score, min(looks * p, 1.0), group.within, group.covered,
        counted,
    )  # fmt: skip


def _counts(subject: Subject, mask: np.ndarray, events: Iterable[np.ndarray]) -> list[float]:
    """Return people with each event, and people: as many as they are worth under a design."""
    design = subject.data.design
    if design is None:
        people = _people_of(subject.data)
        return [float(people[mask & event].sum()) for event in events] + [float(people[mask].sum())]
    shares = [design_share(design, mask, event) for event in events]
    worth = min(share.people for share in shares)
    return [float(share.estimate.value or 0.0) * worth for share in shares] + [worth]


def _share(subject: Subject, mask: np.ndarray, event: np.ndarray, level: float) -> Estimate:
    if subject.data.design is not None:
        return design_share(subject.data.design, mask, event, level=level).estimate
    return wilson(*_counts(subject, mask, (event,)), level=level)


def _net(
    subject: Subject, mask: np.ndarray, events: Sequence[np.ndarray], level: float
) -> tuple[Estimate, float]:
    """Return gained minus lost and the p-value of the exact sign test: both leave out 0, or neither does."""
    gained, lost, n = _counts(subject, mask, events)
    found = sign_balance(gained, lost, n, level=level)
    p = min(2 * float(bdtr(math.floor(min(gained, lost)), round(gained + lost), 0.5)), 1.0)
    low, high = float(found.low or 0.0), float(found.high or 0.0)
    if p > level:
        low, high = min(low, 0.0), max(high, 0.0)
    method = f"correlated Newcombe and exact sign test, {percent_level(level)}"
    return replace(found, low=low, high=high, method=method), p if low > 0 or high < 0 else 1.0


def _mean(subject: Subject, mask: np.ndarray, score: np.ndarray, level: float, largest: float) -> Estimate:
    """Return the mean change of the user's score.

    By Student's t: changes are rare and go both ways, and a correction for skewness takes noise for it. Of
    changes so rare that a group may show none, the `largest` of anybody's, either way, tells how large they
    can be.
    """
    moved = (score - subject.scores) * (-1.0 if subject.higher_is == "unfavorable" else 1.0)
    if subject.data.design is None:
        found = mean_test(moved[mask], _people_of(subject.data)[mask])
        mean, error, n = found.mean, found.standard_error or 0.0, found.n
        freedom, method = math.ceil(n) - 1, f"Student t {percent_level(level)}"
    else:
        mean, error, freedom = design_mean(subject.data.design, mask, moved)
        n, method = float(mask.sum()), f"Student t over clusters {percent_level(level)}"
    if freedom < 1:
        return Estimate(mean, None, None, n, method)
    if error <= _ROUNDING * float(np.abs(score).max()):  # as between 0.3 - 0.2 and 0.2 - 0.1
        return Estimate(mean, None, None, n, "no interval: there is no spread")
    reach = max(float(-stdtrit(freedom, level / 2)) * error, missed_share(freedom + 1, level) * largest)
    return Estimate(mean, mean - reach, mean + reach, n, method)


def _not_asked(
    attributes: Sequence[_Attribute], shown: Sequence[_Group], pairs: int, people: np.ndarray
) -> str:
    """Say why nobody is cleared where values that a tenth of people have were exchanged for no other."""
    asked = [group.swap for group in shown if not group.within]
    known = {(swap.attribute.name, value) for swap in asked for value in (swap.source, swap.target)}
    for item in attributes:
        sizes = {value: float(people[mask].sum()) for value, mask in item.held.items()}
        left = sum(n for value, n in sizes.items() if (item.name, value) not in known)
        if item.read and left >= _COVERED_SHARE * sum(sizes.values()):
            return f"only {len(asked):,} of {pairs:,} pairs of values were asked about (max_pairs)"
    return ""


def _judge(rows: Sequence[SwapRow], options: AttributeSwapOptions, not_asked: str) -> Judgment:
    """Judge the net share of each group; to clear, shares changed must be small as well."""
    limit, read = options.material, [row for row in rows if row.read]
    whole = [row for row in rows if not row.within]
    overall = float(np.average([row.before.value or 0.0 for row in whole], weights=[row.n for row in whole]))
    if not read:
        why, zero = text.not_read(rows), rows[0]
        return judge(zero.net, immaterial=(-limit, limit), cannot_clear=why, decided_by=zero.name)
    conditions = {
        row: (
            Condition(
                name=row.name,
                interval=row.net,
                p_value=row.p_value,
                immaterial=_limit(row, overall, options),
                times=1 + row.within,
            ),
            Condition(
                name=f"changed: {row.name}",
                interval=row.changed,
                immaterial=(-math.inf, _GROSS * _limit(row, overall, options)[1] / (1 + row.within)),
                accuses=False,
            ),
        )
        for row in read
    }
    judge_all = partial(judge_conditions, level=options.level, cannot_clear=not_asked)
    judged = judge_all([each for pair in conditions.values() for each in pair])
    if judged.verdict == EVIDENCE:
        return judged
    covered = [(row, each) for row, pair in conditions.items() if row.covered for each in pair]
    judged = judge_all([each for _, each in covered])
    if judged.verdict != INSUFFICIENT or judged.reason:
        return judged
    return _to_settle(judged, covered, options.level / len(read))


def _limit(row: SwapRow, overall: float | None, options: AttributeSwapOptions) -> tuple[float, float]:
    """Return the net shares of a group that are immaterial: within a value, twice as much."""
    low, high = limit_of(
        options.material, options.material_on, rate=float(row.before.value or 0.0), overall=overall
    )
    return low * (1 + row.within), high * (1 + row.within)


def _to_settle(judged: Judgment, looked_at: Sequence[tuple[SwapRow, Condition]], level: float) -> Judgment:
    """Add how many people of the group settle what is open of all groups, or why none would."""
    open_ = [
        (_times_to_settle(row, each, level), each)
        for row, each in looked_at
        if judge(each.interval, immaterial=each.immaterial).material is not False
    ]
    if never := [each for times, each in open_ if times is None]:
        judged = judge_conditions(never)
        unlimited = 0 in (judged.immaterial_low, judged.immaterial_high)
        return replace(judged, reason=text.NO_RATIO if unlimited else text.CANCELS)
    row = next(row for row, each in looked_at if each.name == judged.decided_by)
    people = math.ceil(max(times or 0.0 for times, _ in open_) * row.n)
    return replace(judged, people_needed=people, people_of=people_in(row.group))


def _times_to_settle(row: SwapRow, condition: Condition, level: float) -> float | None:
    """Return how many times as many people settle one condition; None where none would."""
    gained, lost, changed = (row.people(each) for each in (row.gained, row.lost, row.changed))
    net = condition.name == row.name
    limit = min(abs(end) for end in condition.immaterial)

    def length(times: float) -> float:
        found = (
            sign_balance(times * gained, times * lost, times * row.n, level=level)
            if net
            else wilson(times * changed, times * row.n, level=level)
        )
        return float(found.high or 0.0) - float(found.low or 0.0)

    room = limit if net else limit - changed / row.n
    if room > 0:
        return times_to_settle(length, room)
    # an interval of the net share as long as its limit leaves out 0: that is evidence, and settles it
    one_way = not net and 2 * abs(gained - lost) / row.n >= limit / _GROSS * (1 + row.within)
    return 1.0 if one_way else None


def _stand_ins(subject: Subject, attributes: Sequence[_Attribute]) -> list[tuple[str, str]]:
    """Return attributes with columns that the model reads, each of whose values goes with one value."""
    data, found = subject.data, []
    for item, name in itertools.product(attributes, subject.model.columns):
        if name in item.columns or item.texts is not None or name not in data.frame:
            continue
        codes, values = pd.factorize(data.frame[name])
        if 1 < len(values) <= data.size / _MIN:
            own = np.select(list(item.held.values()), range(len(item.held)), -1)
            if len(np.unique(np.column_stack([codes, own])[codes >= 0], axis=0)) == len(values):
                found.append((item.name, name))
    return found


def _people(subject: Subject, swaps: Sequence[_Swap], protected: Sequence[_Attribute]) -> pd.DataFrame:
    """Return each person with the change that moves them most, a changed decision before any score."""
    data, n = subject.data, subject.data.n
    sign = -1.0 if subject.higher_is == "unfavorable" else 1.0
    before = np.asarray(subject.decisions, dtype=bool)
    moved = np.array([np.abs(swap.score - subject.scores) for swap in swaps])
    moved = moved / (moved.max() or 1.0) + [swap.decision != before for swap in swaps]
    moved[~np.array([swap.members for swap in swaps])] = -1.0
    which, most = moved.argmax(axis=0), moved.max(axis=0)
    at = which, np.arange(n)
    said = np.array([(swap.attribute.name, swap.source, swap.target) for swap in swaps], dtype=object)[which]
    said[most < 0] = ""
    table = {
        **{name: said[:, place] for place, name in enumerate(("attribute", "from", "to"))},
        "score": sign * subject.scores,
        "score_after": sign * np.where(most < 0, subject.scores, np.array([s.score for s in swaps])[at]),
        "decision": before,
        "decision_after": np.where(most < 0, before, np.array([s.decision for s in swaps])[at]),
        "people": _people_of(data),
    }
    for item in protected:
        table[f"group: {item.name}"] = np.select(list(item.held.values()), list(item.held), MISSING)
    for swap in swaps:
        name = f"{swap.attribute.name} = {swap.target}"
        known = table.setdefault(name, np.full(n, None, dtype=object))
        known[swap.members] = swap.decision[swap.members]
    found = pd.DataFrame(table, index=data.frame.index)
    after = [name for name in table if found[name].dtype == object and " = " in name]
    found[after] = found[after].astype("boolean")
    if data.design is not None:
        found["cluster"], found["stratum"] = data.design.cluster, data.design.stratum[data.design.cluster]
    return found.iloc[np.argsort(-most, kind="stable")]
