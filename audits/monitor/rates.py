"""Running rates of groups: how many were decided favorably, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from audits.monitor.dashboard import GroupRates
from audits.monitor.detectors import Outcomes
from audits.stats import Estimate
from audits.stats.sequential import calibration_sequence, gap_sequence, rate_sequence

_KEYS = ("people", "decided", "favorable", "outcomes", "apart", "tp", "fn", "fp", "tn")
_MAX_GROUPS = 50
_OTHERS = "(all other groups)"


class Tally:
    """Counts by attribute and group; `plain` is what is kept.

    Groups beyond the first fifty of an attribute are counted together.
    """

    def __init__(self, plain: dict[str, dict[str, dict[str, float]]]) -> None:
        self.plain = plain

    def add(
        self, protected: Mapping[str, Sequence[str | None]], decisions: np.ndarray, counts: np.ndarray
    ) -> None:
        """Count people in: `decisions` (n,) are 1, 0, or -1 where unknown; `counts` (n,) says who counts."""
        for attribute, values in protected.items():
            for place in np.flatnonzero(counts).tolist():
                name = values[place]
                if name is None:
                    continue
                own = self._of(attribute, name)
                own["people"] += 1
                if decisions[place] >= 0:
                    own["decided"] += 1
                    own["favorable"] += int(decisions[place])

    def learn(self, known: Outcomes) -> None:
        """Count outcomes in; without scores, nothing is said of outcomes beside them from then on."""
        for place, groups in enumerate(known.protected):
            good, decision = bool(known.good[place]), int(known.decisions[place])
            for attribute, name in groups.items():
                own = self._of(attribute, name)
                own["outcomes"] += 1
                own["apart"] += float(good) - float(known.scores[place])
                if decision >= 0:
                    own[("tp" if decision else "fn") if good else ("fp" if decision else "tn")] += 1

    def rates(self, level: float = 0.95) -> list[GroupRates]:
        """Return every group's rates; intervals hold at all times for an attribute's groups together."""
        found = []
        for attribute, groups in self.plain.items():
            each = 1 - (1 - level) / (4 * max(len(groups), 1))
            for name, own in groups.items():
                rest = {
                    key: sum(other[key] for group, other in groups.items() if group != name) for key in _KEYS
                }
                mine, others = _estimates(own, 1 - (1 - each) / 2), _estimates(rest, 1 - (1 - each) / 2)
                gaps = [gap_sequence(a, b) for a, b in zip(mine, others, strict=True)]
                alone = _estimates(own, each)
                found.append(
                    GroupRates(attribute, name, int(own["people"]), int(own["outcomes"]), *alone, *gaps)
                )
        return found

    def _of(self, attribute: str, name: str) -> dict[str, float]:
        groups = self.plain.setdefault(attribute, {})
        if name not in groups and len(groups) >= _MAX_GROUPS:
            name = _OTHERS
        return groups.setdefault(name, dict.fromkeys(_KEYS, 0))


def _estimates(own: Mapping[str, float], level: float) -> list[Any]:
    return [
        rate_sequence(own["favorable"], own["decided"], level=level),
        *_by_outcome(own, level),
        calibration_sequence(
            own["apart"], 0 if own["apart"] != own["apart"] else own["outcomes"], level=level
        ),
    ]


def _by_outcome(own: Mapping[str, float], level: float) -> list[Estimate]:
    """Return the true and the false positive rate; none of outcomes known after one decision alone."""
    after = own["tp"] + own["fp"], own["fn"] + own["tn"]
    decided = own["favorable"], own["decided"] - own["favorable"]
    if any(people and not known for people, known in zip(decided, after, strict=True)):
        return [Estimate(None, None, None, 0.0, "no rate: outcomes are known after one decision alone")] * 2
    return [
        rate_sequence(own[yes], own[yes] + own[no], level=level) for yes, no in (("tp", "fn"), ("fp", "tn"))
    ]
