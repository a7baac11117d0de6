"""The numbers of the demo, each computed from the results of the bundled loans: nothing is typed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.drafts import drafts
from app.glance.runs import usual_options
from app.tables.handles import DataHandle
from app.workspaces.workspace import Workspace
from audits.attribute_swap.result import AttributeSwapResult
from audits.data import group_name
from audits.data.samples import CATALOG
from audits.flipset.result import FlipsetResult
from audits.groups.result import GroupsResult
from audits.rule_sets.result import RuleSetsResult
from audits.stats import EVIDENCE, Estimate
from audits.stats.text import named_group

AUDITS = ("groups", "rule_sets", "flipset", "attribute_swap")
"""Audits whose results the demo shows."""


@dataclass(frozen=True)
class FavoredShare:
    """People who are favored, of how many."""

    yes: int
    of: int

    @property
    def no(self) -> int:
        """Those who are not."""
        return self.of - self.yes

    @property
    def percent(self) -> str:
        """Whole percents."""
        return f"{100 * self.yes / self.of:.0f}%"


@dataclass(frozen=True)
class Story:
    """What the five screens say.

    Attributes
    ----------
    group : str
        The group of the story, in words.
    sexes : mapping of str to FavoredShare
        In words, each sex with those approved: the first screen.
    focus, rest : FavoredShare
        The group, and everyone else.
    looked_at : int
        Rule sets that were searched.
    first : bool
        Whether the group stands out most among them.
    confirmed : bool
        Whether the group was found again on people held back.
    flips, by_chance : int
        People of the group who are declined while their closest match is approved, and how many chance gives.
    pair : tuple of int
        Row of one of them, and of the closest match.
    sides : tuple of mapping
        Score and decision of both.
    swapped : FavoredShare
        The group with the one value changed.
    gained, lost : int
        People of the group whose decision changes, for and against them.
    repaid : int
        Of those declined in the group, how many repaid.
    declined : int
        Declined in all.
    """

    group: str
    sexes: Mapping[str, FavoredShare]
    focus: FavoredShare
    rest: FavoredShare
    looked_at: int
    first: bool
    confirmed: bool
    flips: int
    by_chance: int
    pair: tuple[int, int]
    sides: tuple[Mapping[str, Any], Mapping[str, Any]]
    swapped: FavoredShare
    gained: int
    lost: int
    repaid: int
    declined: int


def tour_draft(space: Workspace) -> dict[str, Any]:
    """Copy the example's files into the workspace, and return its draft."""
    return drafts.from_sample(space, CATALOG["loans"])


def tour_specs(draft: Mapping[str, Any], data: DataHandle) -> dict[str, dict[str, Any]]:
    """Return the specs of the audits shown: those that At a glance runs on the same example."""
    usual = usual_options(draft, data)
    return {name: drafts.audit_spec(draft, name, usual[name]) for name in AUDITS}


def pair_values(story: Story, data: DataHandle, threshold: float) -> pd.DataFrame:
    """Return what the model reads of the two people, a column each; ``attrs`` holds how they are decided."""
    values = data.frame.loc[list(story.pair), list(data.features)].astype(object).T
    people = [{"row": row, **side} for row, side in zip(story.pair, story.sides, strict=True)]
    values.attrs.update(people=people, threshold=threshold)
    return values


def _value(estimate: Estimate | None) -> float:
    """Return a value that the example's result states; its table is computed with chance."""
    return 0.0 if estimate is None or estimate.value is None else estimate.value


def _decision_of(people: pd.DataFrame, row: int) -> dict[str, Any]:
    return {name: people.loc[row, name] for name in ("score", "decision")}


def tell(
    groups: GroupsResult, rule_sets: RuleSetsResult, flipset: FlipsetResult, swap: AttributeSwapResult
) -> Story:
    """Compute the story from the four results."""
    group: dict[str, str] = flipset.options["source"]
    people = groups.people
    inside = _members(people, group)
    favored = people["decision"].to_numpy(dtype=bool)
    own = next(row for row in rule_sets.leaderboard if round(row.n_in) == inside.sum())
    flips = flipset.people[flipset.people["negative"] >= 1.0 - 1e-9]
    nearest = flips.sort_values("distance", kind="stable").iloc[0]
    pair = int(str(nearest.name)), int(nearest["counterpart"])
    (changed,) = set(group) - {
        name for name, value in group.items() if flipset.options["target"].get(name) == value
    }
    swapped = _swapped_decisions(swap, group, changed, str(flipset.options["target"][changed]))
    before, after = swapped["decision"], swapped["after"]
    named = {named_group(row.group): _share(people, {"sex": row.group}) for row in groups.of("sex")}
    return Story(
        group=named_group(group_name(group)),
        sexes=dict(sorted(named.items(), key=lambda each: each[1].yes / each[1].of)),
        focus=_favored_share(favored[inside]),
        rest=_favored_share(favored[~inside]),
        looked_at=rule_sets.n_frequent,
        first=own is rule_sets.leaderboard[0] and own.verdict == EVIDENCE,
        confirmed=own.confirmed,
        flips=round(flipset.negative.size),
        by_chance=round(_value(flipset.negative.expected_by_chance)),
        pair=pair,
        sides=(_decision_of(flipset.people, pair[0]), _decision_of(flipset.counterparts, pair[1])),
        swapped=_favored_share(after.to_numpy()),
        gained=int((~before & after).sum()),
        lost=int((before & ~after).sum()),
        repaid=int(people.loc[inside & ~favored, "favorable label"].sum()),
        declined=int((~favored).sum()),
    )


def _members(table: pd.DataFrame, group: Mapping[str, str]) -> np.ndarray:
    each = [(table[f"group: {name}"] == value).to_numpy(dtype=bool) for name, value in group.items()]
    return np.logical_and.reduce(each)


def _favored_share(favored: np.ndarray) -> FavoredShare:
    return FavoredShare(int(favored.sum()), len(favored))


def _share(people: pd.DataFrame, group: Mapping[str, str]) -> FavoredShare:
    return _favored_share(people.loc[_members(people, group), "decision"].to_numpy(dtype=bool))


def _swapped_decisions(
    swap: AttributeSwapResult, group: Mapping[str, str], name: str, value: str
) -> pd.DataFrame:
    """Return the decisions of the group as they are, and with one value changed."""
    own = swap.people[_members(swap.people, group)]
    after = own[f"{name} = {value}"].astype(bool)
    return pd.DataFrame({"decision": own["decision"].astype(bool), "after": after})
