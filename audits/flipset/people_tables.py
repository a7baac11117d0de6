"""A flipset audit's tables, one row a person; and some people as arrows (Figure 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from audits.flipset.counterparts.matching import Flips, Group, Matching
from audits.flipset.counterparts.people import Comparison
from audits.transport import paired_cost


def people_tables(
    compared: Comparison, matched: list[Matching], flips: Flips, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the tables of `FlipsetResult`, but for its classes, by name."""
    subject, sizes = compared.subject, compared.sizes
    cost, weights = compared.options.cost, compared.encoded.weights
    rows = subject.data.frame.index
    target_atom, links, mains, invented = [], [], [], []
    first_source = first_target = 0
    for part in matched:
        found = sparse.coo_array(part.there.shares)
        row, column = found.coords
        distance = paired_cost(part.source.x[row], part.there.points[column], cost, weights)
        people = part.there.invented
        shift = first_target if people is None else first_source
        links.append(
            pd.DataFrame(
                {
                    "source_atom": row + first_source,
                    "target_atom": column + shift,
                    "share": found.data,
                    "distance": distance,
                }
            )
        )
        target_atom.append(part.target.of + first_target)
        if people is None:
            main, place = _nearest(part, row, column, found.data, distance)
            near = {"row": rows[place].to_numpy(), "score": subject.scores[place]}
        else:  # the counterpart is no row of the data, and the only one
            main = np.arange(len(part.source.x))
            near = {"row": np.full(len(part.source.rows), None), "score": people.scores[part.source.of]}
            invented.append(people.frame)
        of = main[part.source.of]
        near |= {"share": found.data[of], "distance": distance[of], "atom": part.source.of + first_source}
        mains.append(pd.DataFrame({**near, "within": part.value}))
        first_source += len(part.source.x)
        first_target += len(part.target.x)
    nearest = pd.concat(mains).set_axis(rows[flips.source])
    scores, decisions = subject.scores, subject.decisions
    frame = pd.DataFrame(
        {
            "decision": decisions[flips.source],
            "score": scores[flips.source],
            "positive": flips.positive,
            "negative": flips.negative,
            "counterparts_favorable": flips.reach,
            "counterpart": nearest["row"],
            "counterpart_share": nearest["share"],
            "counterpart_score": nearest["score"],
            "distance": nearest["distance"],
            "found": flips.found,
            "people": sizes[flips.source],
            "atom": nearest["atom"],
        },
        index=nearest.index,
    )
    if len(matched) > 1:
        frame["within"] = nearest["within"]
    nobody = np.full(len(flips.target), np.nan)
    counterparts = pd.DataFrame(
        {
            "decision": decisions[flips.target],
            "score": scores[flips.target],
            "positive": nobody if flips.back_positive is None else flips.back_positive,
            "negative": nobody if flips.back_negative is None else flips.back_negative,
            "people": sizes[flips.target],
            "atom": np.concatenate(target_atom),
        },
        index=rows[flips.target],
    )
    made = pd.concat(invented, ignore_index=True) if invented else pd.DataFrame()
    shown = arrows(compared, frame, made, rng)
    return {
        "people": frame,
        "counterparts": counterparts,
        "links": pd.concat(links, ignore_index=True),
        "invented": made,
        "arrows": shown,
        "boundary": boundary(compared, shown),
    }


def _nearest(
    part: Matching, row: np.ndarray, column: np.ndarray, share: np.ndarray, distance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each atom's main link, of the largest share, then the least distance, and each person's main row."""
    order = np.lexsort((column, distance, -share, row))
    first = order[np.unique(row[order], return_index=True)[1]]  # (K,) link of each source atom
    return first, in_turn(column[first], part.source, part.target)


def in_turn(wanted: np.ndarray, ours: Group, theirs: Group) -> np.ndarray:
    """Row of a counterpart of each person (n,): of several alike, equal people get one after the other.

    Parameters
    ----------
    wanted : array (K,)
        Counterpart atom of each person's atom.
    """
    count, reached = len(theirs.x), wanted[ours.of]
    members = np.argsort(theirs.of, kind="stable")
    start = np.searchsorted(theirs.of[members], np.arange(count))
    alike = np.bincount(theirs.of, minlength=count)
    mine, turn = np.argsort(ours.of, kind="stable"), np.empty(len(ours.of), dtype=np.int64)
    turn[mine] = np.arange(len(mine)) - np.searchsorted(ours.of[mine], ours.of[mine])
    return np.asarray(theirs.rows[members[start[reached] + turn % alike[reached]]])


_MAX_ARROWS = 150
_GRID = 61


def arrows(
    compared: Comparison, people: pd.DataFrame, invented: pd.DataFrame, rng: np.random.Generator
) -> pd.DataFrame:
    """Up to 150 people and their main counterparts: columns ``x, y, to x, to y, flip``, by row number.

    Parameters
    ----------
    people, invented : DataFrames
        As in `FlipsetResult`.

    Returns
    -------
    DataFrame
        Empty unless people are matched on exactly two features, both with a scale. ``flip`` is "positive",
        "negative" or "none": the way in which at least half of the person's counterparts differ.
    """
    encoded, raw = compared.encoded, compared.raw
    if len(encoded.columns) != 2 or not all(encoded.scaled[name] for name in encoded.columns):
        return pd.DataFrame()
    here = raw.loc[people.index]
    there = raw.loc[people["counterpart"]] if invented.empty else invented.loc[people["atom"]]
    table = pd.DataFrame(
        {
            "x": _numbers(here[encoded.columns[0]]),
            "y": _numbers(here[encoded.columns[1]]),
            "to x": _numbers(there[encoded.columns[0]]),
            "to y": _numbers(there[encoded.columns[1]]),
            "flip": np.select(
                [people["positive"] >= 0.5, people["negative"] >= 0.5], ["positive", "negative"], "none"
            ),
        },
        index=people.index,
    ).dropna()
    if len(table) > _MAX_ARROWS:
        table = table.iloc[np.sort(rng.choice(len(table), _MAX_ARROWS, replace=False))]
    return table


def boundary(compared: Comparison, shown: pd.DataFrame) -> pd.DataFrame:
    """Decisions on a grid around the people `shown`: columns ``x, y, favorable``.

    Empty unless the model decides on invented people, reads those two features alone, and has one threshold
    for everyone: only then does the picture tell the decision.
    """
    subject, encoded = compared.subject, compared.encoded
    reads = set(subject.model.columns) == set(encoded.columns)
    if shown.empty or not (subject.model.invents and reads and isinstance(subject.threshold, (int, float))):
        return pd.DataFrame()
    ends = [
        (min(shown[a].min(), shown[b].min()), max(shown[a].max(), shown[b].max()))
        for a, b in (("x", "to x"), ("y", "to y"))
    ]
    x, y = (np.linspace(low, high, _GRID) for low, high in ends)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])
    kinds = subject.data.frame.dtypes
    frame = pd.DataFrame({name: grid[:, k] for k, name in enumerate(encoded.columns)})
    for name in encoded.columns:
        if pd.api.types.is_integer_dtype(kinds[name]):
            frame[name] = frame[name].round().astype(kinds[name])
    decided = subject.decide(subject.favorable_score(frame), subject.data.groups.iloc[:1])
    return pd.DataFrame({"x": grid[:, 0], "y": grid[:, 1], "favorable": decided})


def _numbers(values: pd.Series) -> np.ndarray:
    if pd.api.types.is_datetime64_any_dtype(values):
        return np.full(len(values), np.nan)  # a calendar has no place on these axes
    return pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
