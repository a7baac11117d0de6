"""The same people compared otherwise: at equal values, in their other lives, by score and by class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import sparse

from audits.data.preprocessing import counterfactuals as data_columns
from audits.data.values import MISSING
from audits.flipset.counterparts.generated import PeopleGenerator
from audits.flipset.counterparts.matching import Counterparts, Flips, GeneratedPeople, Group, Matching
from audits.flipset.counterparts.people import Comparison
from audits.flipset.result import FlipsetPart, SameValue, ScoreChange
from audits.stats import Estimate, newcombe, weighted_sum, wilson

_MAX_VALUES = 20
_BINS = 10


def same_values(compared: Comparison, flips: Flips) -> tuple[SameValue, ...]:
    """Difference of favorable rates among people who agree in a feature, one feature at a time.

    Features with a scale and more than 20 values are cut into ten parts of as many people each.

    Returns
    -------
    tuple of SameValue
        Of the features with a value that occurs in both groups: within each value the source's rate minus
        the target's, averaged over the source people whose value occurs in the target group too; the largest
        difference first.
    """
    frame, scaled = compared.raw, compared.encoded.scaled
    source, target, level = flips.source, flips.target, compared.options.level
    decisions, sizes = compared.decisions, compared.sizes
    found = []
    rows = np.concatenate([source, target])
    for feature in frame.columns:
        codes = _codes(frame[feature].iloc[rows], sizes[rows], scaled[feature])
        ours, theirs = codes[: len(source)], codes[len(source) :]
        k, sides = int(codes.max()) + 1, ((ours, source), (theirs, target))
        n, m = (np.bincount(code, sizes[who], k) for code, who in sides)
        h, g = (np.bincount(code, sizes[who] * decisions[who], k) for code, who in sides)
        both = np.flatnonzero((n > 0) & (m > 0))
        if not len(both):
            continue
        coverage = float(n[both].sum() / n.sum())
        parts = [newcombe(h[c], n[c], g[c], m[c], level=level) for c in both]
        difference = weighted_sum(parts, (n[both] / n[both].sum()).tolist())
        found.append(SameValue(str(feature), difference, coverage, len(both)))
    return tuple(sorted(found, key=lambda item: -abs(item.difference.value or 0.0)))


def _codes(values: pd.Series, sizes: np.ndarray, scaled: bool) -> np.ndarray:
    if scaled and values.nunique() > _MAX_VALUES:
        place, distinct = pd.factorize(values, sort=True)
        known = place >= 0
        people = np.cumsum(np.bincount(place[known], sizes[known], len(distinct)))
        parts = np.ceil(_BINS * people / people[-1])
        return pd.factorize(np.where(known, parts[place], -1.0))[0]
    return pd.factorize(values.astype("string").fillna(MISSING))[0]


def disagreeing_value(found: tuple[SameValue, ...], net: Estimate, larger: FlipsetPart) -> SameValue | None:
    """Return where comparing at equal values and comparing with counterparts disagree; None if nowhere.

    They disagree where the groups' rates differ for sure and people who agree in one feature, present in
    both groups, are decided alike: their difference is less than a third of that.
    """
    if net.value is None or net.low is None or net.high is None or net.low <= 0 <= net.high:
        return None
    for item in reversed(found):
        gap = item.difference.value
        if gap is None or item.coverage < 0.5 or abs(gap) * 3 > abs(net.value):
            continue
        away = next((line for line in larger.transparency if line.column == item.feature), None)
        if away is None or away.mean_difference.value in (None, 0.0):
            continue
        return item
    return None


def check_counterfactuals(inventor: PeopleGenerator, columns: dict[str, str]) -> None:
    """Check which columns hold what the features would have been.

    Raises
    ------
    InputError
        A key is no feature that people are matched on, a column is absent, has missing values or another
        kind of values than its feature, or the model cannot decide on people who are not in the data.
    """
    where = "flipset.counterfactuals"
    inventor.check(where, "needs decisions on counterfactual people")
    data_columns.check_counterfactuals(
        where,
        columns,
        inventor.subject.data,
        inventor.encoded.columns,
        what="a feature that people are matched on",
    )


def causal_match(
    inventor: PeopleGenerator, matched: list[Matching], columns: dict[str, str]
) -> list[Matching]:
    """The same people, each with the counterpart that `columns` give: the person's own other life.

    Features without a column keep the person's own value; the attributes compared are the target group's.
    """
    data, encoded = inventor.subject.data, inventor.encoded
    space, found = inventor.subject.space, []
    lives = data_columns.counterfactual_frame(data, columns)
    for part in matched:
        frame = lives.iloc[part.source.rows].reset_index(drop=True)
        near = inventor.nearest(encoded.values[part.source.rows], part.target.rows)
        for name in space.columns:
            if name not in encoded.columns:
                frame[name] = data.frame[name].iloc[near].array
        points = space.encode(frame)[:, encoded.keep]
        scores = inventor.subject.favorable_score(frame)
        decided = inventor.subject.decide(scores, inventor.groups(frame, near)).astype(bool)
        rows, size = part.source.rows, part.source.people
        alone = Group(rows, np.arange(len(rows)), size, encoded.values[rows], size)
        people = GeneratedPeople(frame[list(space.columns)], points, scores, decided)
        own = sparse.csr_array(sparse.eye_array(len(size)))
        there = Counterparts(points, own, np.ones(len(size)), part.there.weights, people)
        # nothing was matched, so that nothing is at a cost
        found.append(Matching(part.value, alone, part.target, there, None, np.nan, None, "counterfactuals"))
    return found


def agreement(ours: Flips, causal: Flips, sizes: np.ndarray, level: float) -> Estimate:
    """Share of source people of whom both say the same: in the positive flipset, the negative, neither."""
    same = (
        causal.positive * ours.positive
        + causal.negative * ours.negative
        + (1 - causal.positive - causal.negative) * (1 - ours.positive - ours.negative)
    )
    people = sizes[ours.source]
    share = wilson(float(same @ people), float(people.sum()), level=level)
    return replace(share, method=f"{share.method}, given this matching")


_CHANGE_BINS = 40
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def score_change(compared: Comparison, matched: list[Matching]) -> ScoreChange:
    """Describe how the favorable score changes from person to counterpart, on the scale that is thresholded.

    Who is left without a counterpart is not counted.
    """
    scores = compared.subject.scores
    change, mass = [], []
    for part in matched:
        there, source = part.there.scored(part.target, scores), part.source
        shares = part.there.shares[source.of].tocoo()
        row, column = shares.coords
        change.append(there[column] - scores[source.rows][row])
        mass.append(source.people[row] * part.there.found[source.of][row] * shares.data)
    values, people = np.concatenate(change), np.concatenate(mass)
    total = float(people.sum())
    order = np.argsort(values, kind="stable")
    reach = np.cumsum(people[order]) / total
    places = np.minimum(np.searchsorted(reach, np.array(_QUANTILES) - 1e-12), len(order) - 1)
    counted, edges = np.histogram(values, bins=_bin_edges(values), weights=people)
    return ScoreChange(
        mean=float(people @ values / total),
        histogram={"edges": edges.tolist(), "people": counted.tolist()},
        quantiles={f"{q:g}": float(values[order[k]]) for q, k in zip(_QUANTILES, places, strict=True)},
        n=total,
    )


def _bin_edges(values: np.ndarray) -> np.ndarray:
    """Edges of as many bins as the values can be told apart by; one bin where they all but agree."""
    low, high = float(values.min()), float(values.max())
    edges = np.linspace(low, high, _CHANGE_BINS + 1)
    if (np.diff(edges) > 0).all():
        return edges
    gap = 1e-6 * max(abs(low), abs(high), 1.0)
    return np.array([low - gap, high + gap])


def class_changes(compared: Comparison, matched: list[Matching]) -> pd.DataFrame:
    """People by the class the model gives them (rows) and their counterparts (columns).

    A class is the arg-max of the model's probabilities. Empty for models of two classes or none: there the
    flipsets say it all.
    """
    subject = compared.subject
    classes = subject.model.classes
    if classes is None or len(classes) < 3:
        return pd.DataFrame()
    best = np.asarray(subject.model.score(subject.data.frame)).argmax(1)
    table, each = np.zeros((len(classes), len(classes))), np.eye(len(classes))
    for part in matched:
        if part.there.invented is not None:
            other = each[np.asarray(subject.model.score(part.there.invented.frame)).argmax(1)]
        else:
            other = np.column_stack([part.target.mean(own) for own in each[best].T])  # (L, c)
        reached = (part.there.shares @ other)[part.source.of]
        people = part.source.people * part.there.found[part.source.of]
        np.add.at(table, best[part.source.rows], people[:, None] * reached)
    names = [str(name) for name in classes]
    return pd.DataFrame(table, index=pd.Index(names, name="class"), columns=[f"→ {name}" for name in names])
