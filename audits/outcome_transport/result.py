"""What an outcome-transport audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import pandas as pd
from pydantic import BeforeValidator, TypeAdapter

from audits.results import Optimum, frame_of
from audits.stats import Estimate, Judgment, RowsResult

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
_PLAIN: TypeAdapter[Any] = TypeAdapter(Any)
Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class CouplingFrame(Optimum):
    """The coupling, with how many different outcomes each side has."""

    source_outcomes: int
    target_outcomes: int


@dataclass(frozen=True)
class Flows:
    """Mass from each source subgroup to each target subgroup (Figure 3).

    Attributes
    ----------
    share : matrix (rows, columns)
        Of the row's matched mass; rows sum to 1.
    mass : matrix
        Of all source people.
    low, high : matrix or None
        Smallest and largest share over all optimal couplings; None where they are not known.
    sampling_low, sampling_high : matrix or None
        Interval of the share, for all cells together; None without draws.
    row_people, column_people : tuple of float
        People of each subgroup.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    share: Matrix
    mass: Matrix
    low: Matrix | None
    high: Matrix | None
    row_people: tuple[float, ...]
    column_people: tuple[float, ...]
    sampling_low: Matrix | None = None
    sampling_high: Matrix | None = None


@dataclass(frozen=True)
class BiasRow:
    """Bias of one group of source people.

    Attributes
    ----------
    level : {"all", "group", "subgroup"}
    mean : Estimate
        Mean individual bias (Eq. 12), in the distance's unit; without value where nobody is matched. All
        intervals of a result hold together.
    difference : Judgment or None
        Groups only: mean bias minus that of everyone else in the even coupling, with an interval and a
        p-value that hold in every optimal coupling, all groups together.
    normalised : float or None
        Mean of Eq. 18, in [0, 1].
    total : float
        Group bias, the sum over people (Eq. 13).
    adjusted_p : float or None
        Permutation p-value of that difference in the even coupling alone, corrected for all groups.
    """

    group: str
    level: str
    mean: Estimate
    normalised: float | None
    total: float | None
    adjusted_p: float | None
    difference: Judgment | None = None

    @property
    def n(self) -> float:
        """People of the group."""
        return self.mean.n

    def to_json(self) -> dict[str, Any]:
        """Return the row as results.json states it: the estimate's parts beside the rest."""
        row: dict[str, Any] = _PLAIN.dump_python(self, mode="json")
        mean: dict[str, Any] = row.pop("mean")
        named = {"group": row.pop("group"), "level": row.pop("level")}
        return named | {"mean": mean.pop("value")} | mean | row


def _of_any_version(rows: Any) -> Any:
    """Rows as they are now, of runs saved when each split its estimate in three."""

    def now(row: Any) -> Any:
        if not isinstance(row, dict) or isinstance(row.get("mean"), dict) or "low" not in row:
            return row
        mean = {"value": row["mean"], **{key: row[key] for key in ("low", "high", "n", "method")}}
        rest = {key: value for key, value in row.items() if key not in {"low", "high", "n", "method"}}
        return rest | {"mean": mean}

    return [now(row) for row in rows]


@dataclass(frozen=True)
class Decomposition:
    """Remark 3.1: how much of each row subgroup's mean bias comes from counterparts in each column subgroup.

    A row of `amount` sums to that subgroup's mean bias; `share` is the same as a part of it.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    amount: Matrix
    share: Matrix


@dataclass(frozen=True)
class TieRange:
    """Smallest and largest mean bias of a group over all optimal couplings.

    `value` is that of the even coupling. `exact` says whether both ends are reached by an optimal coupling;
    otherwise they enclose every optimal coupling's value.
    """

    group: str
    level: str
    value: float
    low: float
    high: float
    exact: bool


@dataclass(frozen=True)
class RoleBias:
    """Bias of a group when distance is taken over one role's features only (Figure 5).

    `bias` is the mean, `quantiles` are those of its people's individual bias at `SHARES`; none where nobody
    is matched.
    """

    role: str
    group: str
    level: str
    columns: tuple[str, ...]
    bias: Estimate
    quantiles: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class OutcomeTransportResult(RowsResult):
    """Result of an outcome-transport audit.

    Attributes
    ----------
    judged : Judgment
        The verdict with the interval that it follows from: of the distance between two groups; of two
        policies that of the group whose mean bias differs most clearly from everyone else's in every optimal
        coupling.
    wasserstein : Estimate
        Distance between the two sets of outcomes with the chosen cost: order 1 for Eq. 10's unsquared norm,
        order 2 for the squared one. 0: the same outcomes.
    wasserstein_orders : dict
        Both orders, ``order_1`` and ``order_2``, each with its estimate; order 2 None for a blurred coupling.
    distance_p_value : float or None
        Chance of a distance at least as large if outcomes did not depend on the side.
    group_p_value : float or None
        Chance of groups' mean bias as far apart, in the even coupling, if bias did not depend on the group.
    group_p_value_everywhere : float or None
        The largest such chance over all optimal couplings, that of the verdict on two policies.
    unmatched : dict
        Share of ``source`` and ``target`` people left without counterpart (unbalanced and partial matching).
    people, counterparts : DataFrame, indexed by the user's row number
        One row per person of each side: group, subgroup, outcome, atom; source people with bias, its
        normalized form and its range over optimal couplings, and the most similar of their counterparts.
    links : DataFrame
        Share of each target atom (people of equal outcome) among the counterparts of each source atom.
    """

    comparison: str
    source: str
    target: str
    outcome: str
    n_source: float
    n_target: float
    wasserstein: Estimate
    wasserstein_orders: dict[str, Estimate | None]
    distance_p_value: float | None
    group_p_value: float | None
    unmatched: dict[str, float]
    flows: Flows
    bias: Annotated[tuple[BiasRow, ...], BeforeValidator(_of_any_version)]
    decomposition: Decomposition
    tie_range: tuple[TieRange, ...]
    by_role: tuple[RoleBias, ...]
    certificate: CouplingFrame
    people: pd.DataFrame
    counterparts: pd.DataFrame
    links: pd.DataFrame
    group_p_value_everywhere: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; the people stay in their tables."""
        return super().to_json() | {"bias": [row.to_json() for row in self.bias]}

    def to_frame(self) -> pd.DataFrame:
        """Return bias by group with its interval and its range over optimal couplings."""
        ranges = {(item.level, item.group): item for item in self.tie_range}

        def tie(row: BiasRow) -> TieRange | None:
            return ranges.get((row.level, row.group))

        return frame_of(
            self.bias,
            {
                "group": "group",
                "level": "level",
                "people": "n",
                ("mean bias", "low", "high"): "mean",
                "normalised": "normalised",
                "least optimal": lambda row: (found := tie(row)) and found.low,
                "most optimal": lambda row: (found := tie(row)) and found.high,
                ("minus the others", "difference low", "difference high"): "difference.interval",
                "p in every coupling": "difference.p_value",
                "adjusted p": "adjusted_p",
            },
        )

    def roles_frame(self) -> pd.DataFrame:
        """Return bias by group in each role's features: mean with interval, and quantiles of people's own."""
        rows = [row for row in self.by_role if row.level != "subgroup" and row.bias.value is not None]
        table = frame_of(
            rows,
            {"role": "role", "group": "group", "people": "bias.n", ("mean bias", "low", "high"): "bias"},
        )
        unknown = (None,) * len(SHARES)  # of runs saved before they were told
        names = [f"{100 * share:g}% are below" for share in SHARES]
        return table.join(pd.DataFrame([row.quantiles or unknown for row in rows], columns=names))

    def judged_frame(self) -> pd.DataFrame:
        """Return every interval that was judged, with its verdict."""
        found = {row.group: row.difference for row in self.bias if row.difference is not None}
        found = found or {"distance": self.judged}
        columns: dict[Any, str] = {("value", "low", "high"): "interval", "p": "p_value", "verdict": "verdict"}
        table = frame_of(found.values(), columns)
        table.insert(0, "of", list(found))
        return table

    def flows_frame(self) -> pd.DataFrame:
        """Return the flows as a table, one row a pair of subgroups, largest mass first."""
        rows = [
            {
                "from": source,
                "to": target,
                "share": self.flows.share[r][c],
                "low": None if self.flows.sampling_low is None else self.flows.sampling_low[r][c],
                "high": None if self.flows.sampling_high is None else self.flows.sampling_high[r][c],
                "least optimal": None if self.flows.low is None else self.flows.low[r][c],
                "most optimal": None if self.flows.high is None else self.flows.high[r][c],
                "mass": self.flows.mass[r][c],
                "part of the bias": self.decomposition.share[r][c] if self.decomposition.share else None,
            }
            for r, source in enumerate(self.flows.rows)
            for c, target in enumerate(self.flows.columns)
        ]
        return pd.DataFrame(rows).sort_values("mass", ascending=False, ignore_index=True, kind="stable")

    def cell(self, row: str, column: str) -> pd.DataFrame:
        """Return the people of subgroup `row` who have counterparts in subgroup `column`.

        The column ``share`` says how much of each person's counterparts are there; largest first.
        """
        theirs = self.counterparts
        inside = theirs["subgroup"] == column
        part = (theirs["people"] * inside).groupby(theirs["atom"]).sum() / theirs.groupby("atom")[
            "people"
        ].sum()
        reach = (
            (self.links["share"] * self.links["target_atom"].map(part))
            .groupby(self.links["source_atom"])
            .sum()
        )
        ours = self.people[self.people["subgroup"] == row]
        share = ours["atom"].map(reach).fillna(0.0)
        found = ours.assign(share=share)[share > 0]
        return found.sort_values("share", ascending=False, kind="stable")

    def counterparts_of(self, row: int | str, column: str) -> pd.DataFrame:
        """Return counterparts of the person in `row` who are in subgroup `column`, largest share first."""
        links = self.links[self.links["source_atom"] == self.people.loc[row, "atom"]]
        part = links.set_index("target_atom")["share"]
        theirs = self.counterparts
        found = theirs[(theirs["subgroup"] == column) & theirs["atom"].isin(part.index)]
        share = found["atom"].map(part / theirs.groupby("atom")["people"].sum()) * found["people"]
        return found.assign(share=share).sort_values("share", ascending=False, kind="stable")
