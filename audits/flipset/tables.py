"""The people behind a flipset audit, one row a person, for drill-down and export."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from audits.flipset.counting import Flips
from audits.flipset.matching import Matched
from audits.models import Subject
from audits.transport import Cost, paired_cost

__all__ = ["people_tables"]


def people_tables(
    subject: Subject,
    matched: list[Matched],
    flips: Flips,
    sizes: np.ndarray,
    *,
    cost: Cost,
    weights: np.ndarray,
) -> dict[str, pd.DataFrame]:
    """Return ``people``, ``counterparts``, ``links`` and ``invented`` of `FlipsetResult`."""
    rows = subject.data.frame.index
    source_atom, target_atom, links, mains, invented = [], [], [], [], []
    first_source = first_target = 0
    for part in matched:
        found = sparse.coo_array(part.there.shares)
        row, column = found.coords
        distance = paired_cost(part.x[row], part.there.points[column], cost, weights)
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
        source_atom.append(part.source_atom + first_source)
        target_atom.append(part.target_atom + first_target)
        if people is None:
            near = _nearest(part, row, column, found.data, distance)
            near["row"] = rows[near["position"].to_numpy()].to_numpy()
            near["score"] = subject.scores[near["position"].to_numpy()]
            mains.append(near)
        else:
            invented.append(people.frame)
            mains.append(_invented(part, people.scores, distance))
        first_source += len(part.x)
        first_target += len(part.y)
    nearest = pd.concat(mains, ignore_index=True)
    scores, decisions = subject.scores, subject.decisions
    frame = pd.DataFrame(
        {
            "decision": decisions[flips.source],
            "score": scores[flips.source],
            "positive": flips.positive,
            "negative": flips.negative,
            "counterparts_favorable": flips.reach,
            "counterpart": nearest["row"].to_numpy(),
            "counterpart_share": nearest["share"].to_numpy(),
            "counterpart_score": nearest["score"].to_numpy(),
            "distance": nearest["distance"].to_numpy(),
            "found": flips.found,
            "people": sizes[flips.source],
            "atom": np.concatenate(source_atom),
        },
        index=rows[flips.source],
    )
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
    return {
        "people": frame,
        "counterparts": counterparts,
        "links": pd.concat(links, ignore_index=True),
        "invented": pd.concat(invented, ignore_index=True) if invented else pd.DataFrame(),
    }


def _invented(part: Matched, scores: np.ndarray, distance: np.ndarray) -> pd.DataFrame:
    """Per source person the invented counterpart, who is no row of the data."""
    return pd.DataFrame(
        {
            "row": pd.Series([None] * len(part.source), dtype=object),
            "share": 1.0,
            "score": scores[part.source_atom],
            "distance": distance[part.source_atom],
        }
    )


def _nearest(
    part: Matched, row: np.ndarray, column: np.ndarray, share: np.ndarray, distance: np.ndarray
) -> pd.DataFrame:
    """Per source person the main counterpart: the largest share, then the least distance.

    Among target people alike, each source person is given another one, in turn.
    """
    order = np.lexsort((column, distance, -share, row))
    first = order[np.unique(row[order], return_index=True)[1]]  # (K,) link of each source atom
    members = np.argsort(part.target_atom, kind="stable")
    start = np.searchsorted(part.target_atom[members], np.arange(len(part.y)))
    alike = np.bincount(part.target_atom, minlength=len(part.y))
    turn = _turns(part.source_atom)
    atom = column[first][part.source_atom]
    return pd.DataFrame(
        {
            "position": part.target[members[start[atom] + turn % alike[atom]]],
            "share": share[first][part.source_atom],
            "distance": distance[first][part.source_atom],
        }
    )


def _turns(atom: np.ndarray) -> np.ndarray:
    """How many earlier people share the person's atom, (n,)."""
    order = np.argsort(atom, kind="stable")
    sorted_atom = atom[order]
    starts = np.searchsorted(sorted_atom, sorted_atom)
    turns = np.empty(len(atom), dtype=np.int64)
    turns[order] = np.arange(len(atom)) - starts
    return turns
