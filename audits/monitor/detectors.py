"""What a monitor watches besides flags, as streams that share its budget of false alarms.

| kind | alarms when | compared with |
|---|---|---|
| inputs | a column's values, levels or missing share change | the audited people |
| joint | a column no longer goes with all others as it did, by a linear classifier | the audited people |
| impossible | values come that cannot be | none among the audited people |
| repeats | rows are equal more often than by chance | the audited people |
| sensitivity, scores, decisions | their distribution changes | the audited people |
| model | the deployed model's score or decision is not the bundle's | one in a thousand |
| groups | the groups' shares, or a group's rate of favorable decisions, change | the audited people |
| outcomes | a group's true or false positive rate, or calibration, changes | the audited people |
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.data.values import MISSING
from audits.monitor.profile import MAX_DISTANCE, BatchContext, Look, Profile
from audits.sensitivity.monitor.bins import number_cells, pad
from audits.stats.change import ChangeWatch, Crossing
from audits.stats.control import flag_rate_bound
from audits.stats.shares import wilson_ends

SHARES = {
    "flags": 0.35,
    "inputs": 0.15,
    "joint": 0.15,
    "impossible": 0.05,
    "repeats": 0.05,
    "model": 0.05,
    "sensitivity": 0.05,
    "scores": 0.05,
    "decisions": 0.02,
    "groups": 0.04,
    "outcomes": 0.04,
}
"""Shares of the false alarms by kind; they sum to 1. Without a model, the other kinds share all of them."""

KINDS = tuple(SHARES)
OF_GROUPS = frozenset({"groups", "outcomes"})
_NUMBERS = {"sensitivity": "sensitivity", "scores": "score"}
_QUIET = 1000  # people of a group without a finding, decided as in the audit, after which its alarm is over
_SAME_MODEL = 0.001  # share of people whose score may be another by rounding
_DUMP_HEAD = 8


@dataclass(frozen=True)
class Detector:
    """One thing that is watched: its kind, what it is about, and which of a group's rates, if any."""

    kind: str
    about: str = ""
    rate: str = ""
    attribute: str = ""
    group: str = ""

    @property
    def key(self) -> str:
        """A name that no other stream has."""
        return ":".join(part for part in (self.kind, self.attribute, self.about, self.rate) if part)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Outcomes that became known, for n people, with what was said of them before.

    Attributes
    ----------
    good : (n,) bool
        Whether the outcome was the favorable one.
    scores, decisions : (n,)
        The score then, not a number where there are decisions alone; and the decision: 1, 0, or -1 where
        nobody knows.
    protected : list of dict of str to str
    """

    good: np.ndarray
    scores: np.ndarray
    decisions: np.ndarray
    protected: Sequence[Mapping[str, str]]


def read_head(dumped: bytes) -> dict[str, Any]:
    """Return the counts in what `Detectors.dump` gave: ``counts`` by column, ``counted``, ``block``."""
    return dict(json.loads(dumped[_DUMP_HEAD : _end_of_head(dumped)]))


def _end_of_head(dumped: bytes) -> int:
    return _DUMP_HEAD + int.from_bytes(dumped[:_DUMP_HEAD], "little")


def _sizes(plain: Mapping[str, Any], attribute: str) -> dict[str, float]:
    """Return audited people by group of an attribute, last of all under no name those of further groups."""
    known = {name: own["people"] for name, own in plain["groups"][attribute].items()}
    return dict(plain.get("shares", {}).get(attribute) or {**known, "": 0.0})


def _lie_apart(reference: np.ndarray, new: np.ndarray) -> bool:
    """Tell whether the 95% interval of a cell's share, for all cells together, lies apart from another."""
    if not reference.any():
        return False
    level = 0.05 / int(np.count_nonzero(reference + new))
    ends = [wilson_ends(own, own.sum(), level=level) for own in (reference, new)]
    (low, high), (new_low, new_high) = ends
    return bool(((low > new_high) | (new_low > high)).any())


class Detectors:
    """The streams of one monitor, and where they stand.

    Parameters
    ----------
    profile : Profile or None
        None where the audit was made before there were any: then only the model is watched.
    budget : float
        People between false alarms of all kinds together, flags included.
    """

    def __init__(self, profile: Profile | None, budget: float) -> None:
        self._profile = profile
        plain: Mapping[str, Any] = {} if profile is None else profile.plain
        self._plain = plain
        ranks = [] if profile is None else self._rank_streams(profile)
        events = [(Detector("model"), _SAME_MODEL)] if profile is None or "sensitivity" in plain else []
        if profile is not None:
            people = int(max(plain["people"], 2))
            far = min(plain.get("far", 0), people - 1)
            events.append((Detector("impossible"), flag_rate_bound(far, people)))
            if plain["repeats"]:
                events.append((Detector("repeats"), float(plain["repeats"]["bound"])))
        self.detectors = [stream for stream, _ in ranks] + [stream for stream, _ in events]
        self._places = {each: place for place, each in enumerate(self.detectors)}
        self._of_groups = {each.key: at for each, at in self._places.items() if each.kind in OF_GROUPS}
        self._ranks = len(ranks)
        many = Counter(each.kind for each in self.detectors)
        whole = 1.0 if many["model"] else sum(SHARES[kind] for kind in many)
        between = [max(budget * whole * many[each.kind] / SHARES[each.kind], 1.0) for each in self.detectors]
        self._watch = ChangeWatch(
            pad([counts for _, counts in ranks]), [bound for _, bound in events], between
        )
        self.block: list[int] = []
        self.counts: dict[str, dict[str, int]] = {}
        self.counted = 0
        # of groups whose alarm lasts: what was seen when found latest
        self.since: dict[str, list[float]] = {}
        self.settled: list[int] = []  # blocks of people whose outcomes were taken
        self._begun = self.dump()

    @staticmethod
    def _rank_streams(profile: Profile) -> list[tuple[Detector, Sequence[float]]]:
        plain = profile.plain
        found: list[tuple[Detector, Sequence[float]]] = [
            (Detector("inputs", str(each["column"])), each["counts"]) for each in plain["columns"]
        ]
        found += [(Detector("joint", str(each["column"])), each["counts"]) for each in plain.get("joint", ())]
        for kind, name in _NUMBERS.items():
            found += [(Detector(kind), plain[name]["counts"])] if name in plain else []
        found += [(Detector("decisions"), plain["decisions"])]
        for attribute, groups in plain["groups"].items():
            sizes = list(_sizes(plain, attribute).values())
            found.append((Detector("groups", "shares of the groups", "share", attribute), sizes))
            for name, own in groups.items():
                at = {"attribute": attribute, "group": name}
                found.append((Detector("groups", name, "selection", **at), own["decisions"]))
                for key, rate in (("good", "true positives"), ("bad", "false positives")):
                    if key in own:
                        found.append((Detector("outcomes", name, rate, **at), own[key]))
                if "apart" in own:
                    found.append((Detector("outcomes", name, "calibration", **at), own["apart"]["counts"]))
        return found

    @property
    def scored(self) -> bool:
        """Whether people have scores, not decisions alone."""
        return self._profile is None or "score" in self._plain

    def dump(self) -> bytes:
        """Return where the streams stand."""
        kept = ("block", "counts", "counted", "since", "settled")
        head = json.dumps({name: getattr(self, name) for name in kept}).encode()
        return len(head).to_bytes(_DUMP_HEAD, "little") + head + self._watch.dump()

    def restore(self, dumped: bytes) -> None:
        """Go on from what `dump` gave; from the beginning where that is nothing."""
        dumped = dumped or self._begun
        head, end = read_head(dumped), _end_of_head(dumped)
        self.block, self.counts, self.counted = head["block"], head["counts"], head["counted"]
        self.since, self.settled = head.get("since", {}), head.get("settled", [])
        self._watch.restore(dumped[end:])

    def lasts(self, key: str, *, found: bool) -> bool | None:
        """Tell whether what a stream of groups or outcomes alarmed of lasts; None for any other stream.

        It lasts until the stream has seen enough people since it was `found` latest, whose shares do not lie
        apart from the audit's.
        """
        if key not in self._of_groups:
            return None
        reference, seen = self._watch.cells(self._of_groups[key])
        new = seen - self.since.setdefault(key, seen.tolist())
        if not found and new.sum() < _QUIET:
            return True
        if not found and not _lie_apart(reference, new):
            del self.since[key]
            # or people as in the audit would be news beside the others
            self._watch.restart(self._of_groups[key])
            return False
        self.since[key] = seen.tolist()
        return True

    def own_decisions(self, scores: np.ndarray, sent: Sequence[bool | None]) -> np.ndarray:
        """Return decisions (n,) as sent, else by the audited threshold, else -1."""
        own = np.full(len(scores), -1)
        cut = self._plain.get("threshold")
        if cut is not None:
            own = (scores > -cut if self._plain["unfavorable"] else scores >= cut).astype(int)
        if sent:
            told = np.array(sent, dtype=float)  # nobody knows: not a number
            there = ~np.isnan(told)
            own[there] = told[there].astype(int)
        return own

    def follow(
        self,
        look: Look | None,
        scores: np.ndarray,
        sensitivity: np.ndarray,
        sent: BatchContext,
        counts: np.ndarray,
    ) -> list[tuple[int, Detector]]:
        """Take a batch of n people, of whom `counts` (n,) bool are counted; return alarms by person."""
        n = len(scores)
        cells = np.full((n, self._ranks), -1)
        events = np.full((n, len(self.detectors) - self._ranks), -1)
        decisions = self.own_decisions(scores, sent.decisions)
        if self._profile is not None and look is not None:
            width = look.cells.shape[1]
            cells[:, :width] = look.cells
            for kind, values in (("sensitivity", sensitivity), ("scores", scores)):
                if _NUMBERS[kind] in self._plain:
                    cells[:, width] = number_cells(values, self._plain[_NUMBERS[kind]])
                    width += 1
            cells[:, width] = decisions
            self._groups(cells, decisions, sent)
            kinds = [each.kind for each in self.detectors[self._ranks :]]
            events[:, kinds.index("impossible")] = look.impossible
            if "repeats" in kinds:
                self._mark_repeats(events[:, kinds.index("repeats")], look.rows[counts], counts)
            for column, found in look.counts.items():
                self.counts[column] = dict(Counter(self.counts.get(column)) + Counter(found))
        if self.detectors[self._ranks].kind == "model":
            events[:, 0] = self._other_model(scores, sent)
        cells[~counts] = events[~counts] = -1
        self.counted += int(counts.sum())
        return self._with_detectors(self._watch.update(cells, events))

    def learn(self, known: Outcomes) -> list[tuple[int, Detector]]:
        """Take outcomes of nearly everyone, whatever was decided; return alarms as places and streams."""
        cells = np.full((len(known.good), self._ranks), -1)
        members: dict[tuple[str, str], list[int]] = {}
        for place, groups in enumerate(known.protected):
            for name in groups.items():
                members.setdefault(name, []).append(place)
        for (attribute, group), places in members.items():
            own = self._plain.get("groups", {}).get(attribute, {}).get(group)
            if own is None:
                continue
            mine = np.array(places)
            good = known.good[mine]
            decided = known.decisions[mine]
            rates = {"true positives": np.where(good, decided, -1)}
            rates["false positives"] = np.where(good, -1, decided)
            if "apart" in own:
                rates["calibration"] = number_cells(good - known.scores[mine], own["apart"])
            for rate, places_of in rates.items():
                at = self._places.get(Detector("outcomes", group, rate, attribute, group))
                if at is not None:
                    cells[mine, at] = places_of
        events = np.full((len(cells), len(self.detectors) - self._ranks), -1)
        return self._with_detectors(self._watch.update(cells, events))

    def _with_detectors(self, found: Sequence[Crossing]) -> list[tuple[int, Detector]]:
        return [(each.person, self.detectors[each.stream]) for each in found]

    def _groups(self, cells: np.ndarray, decisions: np.ndarray, sent: BatchContext) -> None:
        for attribute, values in sent.protected.items():
            share = self._places.get(Detector("groups", "shares of the groups", "share", attribute))
            if share is None:
                continue
            names = np.array(["" if each in {None, MISSING} else each for each in values], dtype=object)
            sizes = _sizes(self._plain, attribute)
            codes = np.full(len(names), len(sizes) - 1)
            for code, name in enumerate(list(sizes)[:-1]):
                codes[names == name] = code
            codes[names == ""] = -1
            cells[:, share] = codes
            for name in self._plain["groups"][attribute]:
                at = self._places[Detector("groups", name, "selection", attribute, name)]
                cells[names == name, at] = decisions[names == name]

    def _mark_repeats(self, event: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> None:
        """Mark the last of each block of rows with whether two of them are equal; keep what is left over."""
        size = int(self._plain["repeats"]["block"])
        pending = len(self.block)
        everyone = np.concatenate([np.array(self.block, dtype=np.uint64), rows])
        whole = len(everyone) // size
        if whole:
            parts = np.sort(everyone[: whole * size].reshape(whole, size), axis=1)
            last = np.arange(1, whole + 1) * size - 1 - pending
            event[np.flatnonzero(counts)[last]] = (parts[:, 1:] == parts[:, :-1]).any(axis=1)
        self.block = everyone[whole * size :].tolist()

    def _other_model(self, scores: np.ndarray, sent: BatchContext) -> np.ndarray:
        """Return 1 where the deployed model says otherwise than the bundle's, 0 where not, -1 unknown."""
        found = np.full(len(scores), -1)
        if sent.decisions and self._plain.get("threshold") is not None:
            own, told = self.own_decisions(scores, ()), np.array(sent.decisions, dtype=float)
            there = ~np.isnan(told)
            found[there] = told[there] != own[there]
        if sent.scores:
            apart = np.abs(np.array(sent.scores, dtype=float) - scores)
            there = ~np.isnan(apart)
            found[there] = np.maximum(apart[there] > MAX_DISTANCE, found[there])
        return found
