"""From where groups meet to tables: people with their counterparts, and in what flipped ones differ.

How they differ from those whom they flip towards is FlipTest's Definition 2, group by group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from audits.barycenter.barycenters import Barycenter
from audits.barycenter.people import GroupComparison
from audits.barycenter.result import GroupMarginal, TransparencyLine, Way
from audits.flipset.comparisons.marginals import marginals as who_flips
from audits.flipset.comparisons.marginals import report
from audits.flipset.counterparts.matching import FlipLinks, Group
from audits.flipset.people_tables import in_turn

_MAX_FEATURES, _DRAWS = 12, 500  # described by value; behind the report's intervals
_WAYS: tuple[Way, Way] = ("only_self", "only_counterpart")


def people_tables(
    compared: GroupComparison, met: Barycenter, reached: Sequence[np.ndarray]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return ``people`` and ``counterparts`` of `BarycenterResult`.

    Parameters
    ----------
    reached : list of arrays (a,)
        Favorable share of each atom's counterparts.
    """
    data, scores, groups = compared.subject.data, compared.subject.scores, compared.groups
    index, names = data.frame.index, np.array(compared.names, dtype=object)
    links, mains = [], []
    for k, group in enumerate(groups):
        rows, found = index[compared.rows[group.rows]], []
        for other, theirs in enumerate(groups):
            if other == k:
                continue
            atom, share, distance = _main(met, k, other, group, theirs)
            place = in_turn(atom, group, theirs)
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
                    },
                    index=rows,
                )
            )
        links += found
        favored, g = compared.decisions[group.rows], reached[k][group.of]
        nearest = pd.concat(found).sort_values("distance", kind="stable")
        main = nearest[~nearest.index.duplicated()].loc[rows]
        mains.append(
            pd.DataFrame(
                {
                    "group": names[k],
                    "decision": favored > 0,
                    "score": np.asarray(scores)[compared.rows[group.rows]],
                    "only_self": favored * (1 - g),
                    "only_counterpart": (1 - favored) * g,
                    "counterparts_favorable": g,
                    "counterpart": main["counterpart"].to_numpy(),
                    "counterpart_group": main["of"].to_numpy(),
                    "distance": main["distance"].to_numpy(),
                    "people": group.people,
                },
                index=rows,
            )
        )
    return pd.concat(mains), pd.concat(links)


def _main(
    met: Barycenter, k: int, other: int, group: Group, theirs: Group
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per atom of group `k` the atom of `other` whom it meets most, the share there, and how far it is."""
    together = sparse.csr_array(met.plans[k].T @ sparse.diags_array(1 / met.mass) @ met.plans[other]).tocoo()
    i, j = together.coords
    apart = np.sqrt(((group.x[i] - theirs.x[j]) ** 2).sum(axis=1))
    share = together.data / group.weights[i]
    order = np.lexsort((j, apart, -np.round(share, 9), i))
    first = order[np.unique(i[order], return_index=True)[1]]
    return j[first], np.minimum(share[first], 1.0), apart[first]


def marginals(
    compared: GroupComparison, people: pd.DataFrame, rng: np.random.Generator
) -> tuple[GroupMarginal, ...]:
    """Compare those of each group who flip, either way, with the group, the most different feature first."""
    data = compared.subject.data
    columns = [name for name in sorted(data.features) if name not in compared.by]
    scaled = {name: data.kinds[name] in {"continuous", "integer", "datetime"} for name in columns}
    found: list[GroupMarginal] = []
    start = 0
    for k, name in enumerate(compared.names):
        members = compared.rows[compared.groups[k].rows]
        part = people.iloc[start : start + len(members)]
        start += len(members)
        sizes = part["people"].to_numpy(dtype=float)
        for way in _WAYS:
            flips = part[way].to_numpy(dtype=float) * sizes
            if flips.sum() <= 0:
                continue
            told = who_flips(data.frame[columns].iloc[members], scaled, flips, sizes, rng)
            found += [GroupMarginal(**vars(each), group=name, way=way) for each in told[:_MAX_FEATURES]]
    return tuple(found)


def transparency(
    compared: GroupComparison, met: Barycenter, rng: np.random.Generator
) -> tuple[TransparencyLine, ...]:
    """Report every group, both ways of flipping, the features that lie farthest apart first."""
    found: list[TransparencyLine] = []
    for k, name in enumerate(compared.names):
        for way, links in zip(_WAYS, _flipping(compared, met, k), strict=True):
            lines = report([links], list(compared.lines), rng, draws=_DRAWS, level=compared.options.level)
            found += [TransparencyLine(**vars(line), group=name, way=way) for line in lines]
    return tuple(found)


def _flipping(compared: GroupComparison, met: Barycenter, k: int) -> tuple[FlipLinks, FlipLinks]:
    """Who of group `k` flips either way towards whom, over the other groups by their shares."""
    groups, own = compared.groups, compared.favored
    others = [other for other in range(len(groups)) if other != k]
    onto = met.plans[k].T @ sparse.diags_array(1 / met.mass)
    weights = [compared.shares[other] / (1 - compared.shares[k]) for other in others]
    together = sparse.hstack(
        [share * (onto @ met.plans[other]) for share, other in zip(weights, others, strict=True)]
    )
    mass = float(compared.n[k]) * sparse.csr_array(together)
    points = np.concatenate([groups[other].x for other in others])
    h, g = own[k], np.concatenate([own[other] for other in others])
    people = groups[k].weights * float(compared.n[k])

    def flips(here: np.ndarray, there: np.ndarray) -> FlipLinks:
        links = sparse.coo_array(sparse.diags_array(here) @ mass @ sparse.diags_array(there))
        links.eliminate_zeros()
        return FlipLinks(groups[k].x, points, links, people * here)

    return flips(h, 1 - g), flips(1 - h, g)
