"""The people behind a flipset audit, one row a person, for drill-down and export."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from audits.flipsets.counting import Flips
from audits.flipsets.matching import Matched
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
    """Return ``people``, ``counterparts`` and ``links`` of `FlipsetResult`."""
    rows = subject.data.frame.index
    source_atom, target_atom, links, nearest = [], [], [], []
    first_source = first_target = 0
    for part in matched:
        source_atom.append(part.source_atom + first_source)
        target_atom.append(part.target_atom + first_target)
        shares = part.shares
        found = sparse.coo_array(shares)
        row, column = found.coords
        distance = paired_cost(part.x[row], part.y[column], cost, weights)
        links.append(
            pd.DataFrame(
                {
                    "source_atom": row + first_source,
                    "target_atom": column + first_target,
                    "share": found.data,
                    "distance": distance,
                }
            )
        )
        nearest.append(_nearest(part, row, column, found.data, distance))
        first_source += len(part.x)
        first_target += len(part.y)
    mains = pd.concat(nearest, ignore_index=True)
    scores = subject.scores
    decisions = subject.decisions
    people = pd.DataFrame(
        {
            "decision": decisions[flips.source],
            "score": scores[flips.source],
            "positive": flips.positive,
            "negative": flips.negative,
            "counterparts_favorable": flips.reach,
            "counterpart": rows[mains["position"].to_numpy()].to_numpy(),
            "counterpart_share": mains["share"].to_numpy(),
            "counterpart_score": scores[mains["position"].to_numpy()],
            "distance": mains["distance"].to_numpy(),
            "people": sizes[flips.source],
            "atom": np.concatenate(source_atom),
        },
        index=rows[flips.source],
    )
    counterparts = pd.DataFrame(
        {
            "decision": decisions[flips.target],
            "score": scores[flips.target],
            "positive": flips.back_positive,
            "negative": flips.back_negative,
            "people": sizes[flips.target],
            "atom": np.concatenate(target_atom),
        },
        index=rows[flips.target],
    )
    return {
        "people": people,
        "counterparts": counterparts,
        "links": pd.concat(links, ignore_index=True),
    }


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
