"""What a barycenter audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from audits.flipset.result import REPORT_COLUMNS, FeatureDifference, Marginal, bars_frame, rank_lines
from audits.results import frame_of
from audits.stats import Estimate, Judgment, RowsResult
from audits.transport.levels import LevelDifference

Way = Literal["only_self", "only_counterpart"]


@dataclass(frozen=True)
class AgainstEverybody:
    """One group matched with everyone, its own people too, instead of with all the others.

    Attributes
    ----------
    only_self, only_counterpart : float
        Shares of the group favored as themselves while their counterparts among everyone are not, and the
        other way round.
    net : Estimate
        Their difference: the group's rate less everyone's. It is the part ``1 - share`` of the net flips
        against the others, and as sure.
    """

    only_self: float
    only_counterpart: float
    net: Estimate


@dataclass(frozen=True)
class TransparencyLine(FeatureDifference):
    """A line of the transparency report of those of a group who flip one way."""

    group: str
    way: Way


@dataclass(frozen=True)
class GroupMarginal(Marginal):
    """A feature's distribution among those of a group who flip one way, beside that of the group."""

    group: str = ""
    way: Way = "only_self"


@dataclass(frozen=True)
class GroupFlips:
    """One group against its counterparts in all others.

    Attributes
    ----------
    people : float
        Of the group who were matched.
    share : float
        What the group counts in the barycenter.
    rate : Estimate
        Favorable share of the group.
    only_self, only_counterpart : float
        Shares of the group favored as themselves while their counterparts are not, and the other way round.
    net : Estimate
        Their difference: the group's rate less the others', intervals of all groups together.
    larger, by_chance : float or None
        The larger of both, as measured beside chance, and what chance gives of it.
    excess : Estimate
        What it holds above chance, intervals of all groups together.
    p_value : float or None
        Of as much by chance, corrected for all groups.
    distance, distance_by_chance : float
        Root mean square distance of the group's people from where they meet the others, in standard
        deviations, and that of as many people drawn from everyone.
    judged : Judgment
        Follows from `net` or from `excess`, whichever tells more; both share the level.
    everyone : AgainstEverybody or None
        The same with everyone in the place of all the others; None in results of earlier versions.
    levels : tuple of LevelDifference
        Rates of the group, as source, and of all the others at every level of the features.
    """

    group: str
    people: float
    share: float
    rate: Estimate
    only_self: float
    only_counterpart: float
    net: Estimate
    larger: float | None
    by_chance: float | None
    excess: Estimate
    p_value: float | None
    distance: float
    distance_by_chance: float
    judged: Judgment
    everybody: AgainstEverybody | None = None
    levels: tuple[LevelDifference, ...] = ()

    @property
    def way(self) -> Way:
        """The larger direction as a column of the people's table."""
        return "only_self" if self.only_self >= self.only_counterpart else "only_counterpart"


@dataclass(frozen=True)
class Nearness:
    """How near the barycenter is to the groups: mean squared distances, in squared standard deviations.

    Attributes
    ----------
    spread : float
        Of people from where they meet.
    least : float
        What no barycenter can be below.
    rounds : int
    points : int
        Points at which people meet.
    """

    spread: float
    least: float
    rounds: int
    points: int

    @property
    def above(self) -> float | None:
        """How far the spread can lie above the least possible, relative to it; None where that is 0."""
        return self.spread / self.least - 1 if self.least > 0 else None


@dataclass(frozen=True, eq=False)
class BarycenterResult(RowsResult):
    """Result of a barycenter audit.

    Attributes
    ----------
    by : tuple of str
        Attributes whose values make the groups.
    judged : Judgment
        That of the group on which the verdict rests.
    rests_on : str
        That group.
    groups : tuple of GroupFlips
        The largest group first.
    reference_rate : float
        Favorable share where all groups meet: the same for every group that is mapped there.
    nearness : Nearness
    differ_p : float or None
        P-value of groups that differ neither in their rates nor in the mean of a feature that decisions go
        with.
    feature : str
        The one of these features in which they differ most.
    chance : str
        How the level of chance was measured.
    who : tuple of GroupMarginal
        By group and way of flipping the features in which those who flip differ most from their group; empty
        in results of earlier versions.
    people : DataFrame
        One row per person, by the user's row number: group, decision, score, only_self and only_counterpart
        (shares of counterparts towards whom the person flips), counterparts_favorable, the main counterpart
        and its group.
    counterparts : DataFrame
        Each person's main counterpart in every other group, with its share there and distance.
    transparency : tuple of TransparencyLine
        By group and way of flipping which features move between people and counterparts, the farthest first.
    cost : str
        Distance that matching kept small.
    """

    by: tuple[str, ...]
    outcome: str
    rests_on: str
    n: float
    groups: tuple[GroupFlips, ...]
    reference_rate: float
    nearness: Nearness
    differ_p: float | None
    feature: str
    chance: str
    people: pd.DataFrame
    counterparts: pd.DataFrame
    transparency: tuple[TransparencyLine, ...] = ()
    cost: str = "l2_squared"
    who: tuple[GroupMarginal, ...] = ()

    def group(self, name: str) -> GroupFlips:
        """Return one group; KeyError where there is none of that name."""
        return {each.group: each for each in self.groups}[name]

    def to_frame(self) -> pd.DataFrame:
        """Return the groups as a table, one row each."""
        columns: dict[Any, Any] = {
            "group": "group",
            "people": "people",
            "favorable": "rate.value",
            "favored only as themselves": "only_self",
            "favored only as counterparts": "only_counterpart",
            ("net", "net low", "net high"): "net",
            "larger flips": "larger",
            "by chance": "by_chance",
            ("above chance", "low", "high"): "excess",
            "p": "p_value",
            "verdict": "judged.verdict",
            "share of barycenter": "share",
        }
        if any(each.everybody is not None for each in self.groups):
            columns |= {
                "favored only as themselves, against everyone": "everybody.only_self",
                "favored only as counterparts, against everyone": "everybody.only_counterpart",
                "net against everybody": "everybody.net.value",
            }
        return frame_of(self.groups, columns)

    def distances_frame(self) -> pd.DataFrame:
        """Return how far each group lies from the barycenter."""
        return frame_of(
            self.groups,
            {
                "group": "group",
                "people": "people",
                "distance": "distance",
                "distance of as many drawn from everyone": "distance_by_chance",
            },
        )

    def marginals(self, group: str, way: str) -> list[GroupMarginal]:
        """Return the features of those of a group who flip one way, the most different first."""
        return [each for each in self.who if (each.group, each.way) == (group, way)]

    def report(self, group: str, way: str, *, by_sign: bool = False) -> list[TransparencyLine]:
        """Return a group's transparency report in one of its two rankings: how far, or how consistently."""
        rows = [row for row in self.transparency if (row.group, row.way) == (group, way)]
        return rank_lines(rows, by_sign=by_sign)

    def transparency_frame(self, group: str, *, by_sign: bool = False) -> pd.DataFrame:
        """Return a group's transparency reports, both ways, in either of their rankings."""
        rows = [
            row
            for way in ("only_self", "only_counterpart")
            for row in self.report(group, way, by_sign=by_sign)
        ]
        return frame_of(rows, {"way": "way"} | REPORT_COLUMNS)

    def marginals_frame(self, group: str, way: str) -> pd.DataFrame:
        """Return in which values those of a group who flip one way differ from it, one row a bin or value."""
        return bars_frame(self.marginals(group, way), "who flip")
