"""From where groups meet to tables: people with their counterparts, and in what flipped ones differ.

How they differ from those whom they flip towards is FlipTest's Definition 2, group by group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import sparse

from audits.barycenter.meeting import Group, Meeting
from audits.barycenter.people import ComparedGroups
from audits.barycenter.result import MarginalRow, TransparencyLine, Way
from audits.data.report_lines import ReportLine
from audits.data.values import MISSING, as_text
from audits.stats import Estimate
from audits.stats.words import number

__all__ = ["marginals", "people_tables", "transparency"]

_SCALED = {"continuous", "integer", "datetime"}
_MOST_BINS, _MOST_VALUES, _MOST_FEATURES = 6, 8, 4


def people_tables(
    compared: ComparedGroups, groups: Sequence[Group], met: Meeting, reached: Sequence[np.ndarray]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return ``people`` and ``counterparts`` of `BarycenterResult`.

    Parameters
    ----------
    reached : list of arrays (a,)
        Favourable share of each atom's counterparts.
    """
    data, scores = compared.subject.data, compared.subject.scores
    index, names = data.frame.index, np.array(compared.names, dtype=object)
    links, mains = [], []
    for k, group in enumerate(groups):
        mine = compared.members(k)
        found = []
        for other, theirs in enumerate(groups):
            if other == k:
                continue
            atom, share, distance = _main(met, k, other, group, theirs)
            place = _representative(compared.members(other), theirs, atom, group.of)
            found.append(
                pd.DataFrame(
                    {
                        "group": names[k],
                        "of": names[other],
                        "counterpart": index[compared.rows[place]],
                        "counterpart_decision": compared.decisions[place] > 0,
                        "counterpart_score": np.asarray(scores)[compared.rows[place]],
                        "share": share[group.of],
                        "distance": distance[group.of],
                        "counts": compared.shares[other],
                    },
                    index=index[compared.rows[mine]],
                )
            )
        links += found
        favored, g = compared.decisions[mine], reached[k][group.of]
        nearest = np.argmin([each["distance"].to_numpy() for each in found], axis=0)
        who = np.arange(len(mine))

        def pick(
            name: str, found: list[pd.DataFrame] = found, nearest: np.ndarray = nearest, who: np.ndarray = who
        ) -> np.ndarray:
            return np.stack([each[name].to_numpy() for each in found])[nearest, who]

        mains.append(
            pd.DataFrame(
                {
                    "group": names[k],
                    "decision": favored > 0,
                    "score": np.asarray(scores)[compared.rows[mine]],
                    "only_self": favored * (1 - g),
                    "only_counterpart": (1 - favored) * g,
                    "counterparts_favorable": g,
                    "counterpart": pick("counterpart"),
                    "counterpart_group": pick("of"),
                    "distance": pick("distance"),
                    "people": compared.sizes[mine],
                },
                index=index[compared.rows[mine]],
            )
        )
    people = pd.concat(mains)
    return people, pd.concat(links).drop(columns="counts")


def _main(
    met: Meeting, k: int, other: int, group: Group, theirs: Group
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per atom of group `k` the atom of `other` whom it meets most, the share there, and how far it is."""
    together = sparse.csr_array(met.plans[k].T @ sparse.diags_array(1 / met.mass) @ met.plans[other]).tocoo()
    i, j = together.coords
    apart = np.sqrt(((group.x[i] - theirs.x[j]) ** 2).sum(axis=1))
    share = together.data / group.weights[i]
    order = np.lexsort((j, apart, -np.round(share, 9), i))
    first = order[np.unique(i[order], return_index=True)[1]]
    return j[first], np.minimum(share[first], 1.0), apart[first]


def _representative(members: np.ndarray, theirs: Group, atom: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Places (n,) of one person of each counterpart atom; of several alike another one in turn."""
    order = np.argsort(theirs.of, kind="stable")
    start = np.searchsorted(theirs.of[order], np.arange(len(theirs.x)))
    alike = np.bincount(theirs.of, minlength=len(theirs.x))
    mine = np.argsort(of, kind="stable")
    turn = np.empty(len(of), dtype=np.int64)
    turn[mine] = np.arange(len(of)) - np.searchsorted(of[mine], of[mine])
    wanted = atom[of]
    return members[order[start[wanted] + turn % alike[wanted]]]


def marginals(compared: ComparedGroups, people: pd.DataFrame) -> tuple[MarginalRow, ...]:
    """Values of the features in which the flipped people of each group differ most from it."""
    data, found = compared.subject.data, []
    columns = [name for name in data.features if name not in compared.by]
    values = {
        name: _values(data.frame[name].iloc[compared.rows], data.kinds[name] in _SCALED) for name in columns
    }
    ours = people["people"].to_numpy(dtype=float)
    order = np.concatenate([compared.members(k) for k in range(len(compared.names))])
    start = 0
    for k, name in enumerate(compared.names):
        here = slice(start, start + len(compared.members(k)))
        start = here.stop
        part = people.iloc[here]
        sums = [float(ours[here] @ part[way].to_numpy()) for way in ("only_self", "only_counterpart")]
        flips = part["only_self" if sums[0] >= sums[1] else "only_counterpart"].to_numpy() * ours[here]
        if flips.sum() <= 0:
            continue
        told = []
        for column, (codes, names) in values.items():
            mine = codes[order[here]]
            group = np.bincount(mine, ours[here], len(names)) / ours[here].sum()
            flipped = np.bincount(mine, flips, len(names)) / flips.sum()
            told.append((float(np.abs(group - flipped).sum() / 2), column, names, group, flipped))
        told.sort(key=lambda each: -each[0])
        for _, column, names, group, flipped in told[:_MOST_FEATURES]:
            found += [
                MarginalRow(name, column, value, float(a), float(b))
                for value, a, b in zip(names, group, flipped, strict=True)
                if a > 0 or b > 0
            ]
    return tuple(found)


def _values(column: pd.Series, scaled: bool) -> tuple[np.ndarray, list[str]]:
    """Code of each person's value or bin, and their names; the missing one of their own."""
    missing = column.isna().to_numpy()
    distinct = column.dropna().nunique()
    codes: np.ndarray
    if scaled and distinct > _MOST_VALUES and pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.to_numpy(dtype=float, na_value=np.nan)
        cuts = np.unique(np.quantile(numbers[~missing], np.linspace(0, 1, _MOST_BINS + 1)[1:-1]))
        codes = np.searchsorted(cuts, numbers, side="right")
        ends = [number(float(cut)) for cut in cuts]
        names = [f"below {ends[0]}"]
        names += [f"{low} to under {high}" for low, high in pairwise(ends)]
        names += [f"{ends[-1]} or more"]
    else:
        texts = as_text(column).fillna(MISSING).astype(str)
        if scaled and pd.api.types.is_numeric_dtype(column.dtype):
            levels = [str(each) for each in as_text(column.dropna().drop_duplicates().sort_values())]
        else:
            levels = texts[~missing].value_counts().index.tolist()
        names = levels[:_MOST_VALUES]
        if len(levels) > _MOST_VALUES:
            names = [*names[:-1], f"{len(levels) - _MOST_VALUES + 1:,} other values"]
        codes = texts.map({name: k for k, name in enumerate(names)}).fillna(len(names) - 1).to_numpy(int)
    if missing.any():
        codes = np.where(missing, len(names), codes)
        names = [*names, MISSING]
    return codes, names


_NO_INTERVAL = "no interval: among other people, others would meet"
_WAYS: tuple[Way, Way] = ("only_self", "only_counterpart")


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of one group that flip one way: places of both among all atoms, and people of the group, (p,)."""

    mine: np.ndarray
    theirs: np.ndarray
    people: np.ndarray


def transparency(
    compared: ComparedGroups,
    groups: Sequence[Group],
    met: Meeting,
    own: Sequence[np.ndarray],
) -> tuple[TransparencyLine, ...]:
    """Report every group, both ways of flipping, the features that lie farthest apart first.

    Parameters
    ----------
    own : list of arrays (a,)
        Favourable share of each atom's people.
    """
    points = np.concatenate([group.x for group in groups])
    starts = np.cumsum([0, *(len(group.x) for group in groups)])
    found: list[TransparencyLine] = []
    for k, name in enumerate(compared.names):
        for way, pairs in zip(_WAYS, _flipping(compared, groups, met, own, k, starts), strict=True):
            rows = [TransparencyLine(name, way, *each) for each in _told(pairs, compared.lines, points)]
            found += sorted(rows, key=lambda row: (-abs(row.standardized_difference), row.feature))
    return tuple(found)


def _flipping(
    compared: ComparedGroups,
    groups: Sequence[Group],
    met: Meeting,
    own: Sequence[np.ndarray],
    k: int,
    starts: np.ndarray,
) -> tuple[_Pairs, _Pairs]:
    """Pairs of group `k` that flip either way, over the other groups by their shares."""
    mine, theirs, ours, there = [], [], [], []
    onto = met.plans[k].T @ sparse.diags_array(1 / met.mass)
    for other in range(len(groups)):
        if other == k:
            continue
        together = sparse.csr_array(onto @ met.plans[other]).tocoo()
        i, j = together.coords
        share = compared.shares[other] / (1 - compared.shares[k])
        mass = together.data * share * float(compared.n[k])
        h, g = own[k][i], own[other][j]
        mine.append(starts[k] + i)
        theirs.append(starts[other] + j)
        ours.append(mass * h * (1 - g))
        there.append(mass * (1 - h) * g)
    one, two = np.concatenate(mine), np.concatenate(theirs)
    first, second = (_pairs(one, two, np.concatenate(each)) for each in (ours, there))
    return first, second


def _pairs(mine: np.ndarray, theirs: np.ndarray, people: np.ndarray) -> _Pairs:
    kept = people > 0
    return _Pairs(mine[kept], theirs[kept], people[kept])


def _told(
    pairs: _Pairs, lines: Sequence[ReportLine], points: np.ndarray
) -> Iterator[tuple[str, str, Estimate, Estimate, float, float]]:
    """Yield each line: names, mean difference, mean sign, the former in deviations, and what one is."""
    if float(pairs.people.sum()) <= 1e-9:
        return
    for line in lines:
        gap = points[pairs.mine, line.index] - points[pairs.theirs, line.index]
        weight = pairs.people
        if line.missing is not None:
            unknown = (points[pairs.mine, line.missing] > 0) | (points[pairs.theirs, line.missing] > 0)
            weight = np.where(unknown, 0.0, weight)
        mass = float(weight.sum())
        if mass <= 0:
            nothing = Estimate(None, None, None, 0.0, "missing in every flip")
            yield line.name, line.column, nothing, nothing, 0.0, line.deviation
            continue
        value, sign = (float(weight @ each) / mass for each in (gap * line.unit, np.sign(gap)))
        deviations = value / line.deviation if line.deviation > 0 else 0.0
        told = (Estimate(each, None, None, mass, _NO_INTERVAL) for each in (value, sign))
        yield line.name, line.column, *told, deviations, line.deviation  # type: ignore[misc]  # two estimates
