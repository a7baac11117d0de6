"""What each audit of a spec could see at given group sizes, by simulation through its own test.

Worlds are drawn from the spec's own people: rows with their features, labels and decisions, drawn with
replacement from everyone, and group membership dealt out at random, so that groups of the sizes asked for
differ by luck alone. Then a difference is planted: in one group so many people lose (or, where too few have
it, gain) the favorable decision. Each world goes through the audit as a spec runs it; what is counted is its
verdict. No power formula stands between plan and audit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.data import AuditData
from audits.data.frames import with_columns
from audits.errors import InputError
from audits.models import ModelSpec, Predictions, Subject, make_subject
from audits.progress import Progress, part, silent
from audits.runs.execute import prepared_subject
from audits.runs.registry import AUDITS
from audits.runs.spec import AuditRequest, Spec
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL, Estimate, wilson
from audits.stats.text import percent_interval

_DECISION = "(decision in this world)"


@dataclass(frozen=True)
class PowerRow:
    """How often an audit gives each verdict in worlds of one size and one planted difference.

    Attributes
    ----------
    audit : str
    people, others : int
        In the group that gets the difference, and in each other group.
    difference : float
        Planted, as a share of the group's people; 0 where groups differ by luck alone: evidence is then a
        false alarm.
    evidence, no_material, insufficient : Estimate
        Share of worlds with each verdict.
    reason : str
        Why the audit could not be planned; the shares are then None.
    """

    audit: str
    people: int
    difference: float
    evidence: Estimate
    no_material: Estimate
    insufficient: Estimate
    reason: str = ""
    others: int = 0

    @property
    def words(self) -> dict[str, str]:
        """What was planted, and the share of worlds with each verdict, with its interval."""
        return {
            "planted": f"{100 * self.difference:g} points",
            EVIDENCE: percent_interval(self.evidence),
            NO_MATERIAL: percent_interval(self.no_material),
            INSUFFICIENT: percent_interval(self.insufficient),
        }


def plan(
    spec: Spec,
    *,
    sizes: Sequence[int] = (100, 300, 1000),
    differences: Sequence[float] = (0.0, 0.1),
    others: int | None = None,
    worlds: int = 20,
    seed: int = 0,
    progress: Progress = silent,
) -> list[PowerRow]:
    """Return what each audit of `spec` could see.

    Parameters
    ----------
    sizes : sequence of int
        People in the group that gets the difference, at least 2.
    differences : sequence of float
        Shares of a group's people whose decision is changed, in [0, 1).
    others : int, optional
        People in each other group; as many by default.
    worlds : int
        Worlds drawn for each size and difference.

    Raises
    ------
    InputError
        If a number is out of range, or the data have no protected attribute.
    """
    asked = (("sizes", min(sizes), 2), ("worlds", worlds, 1), ("others", others or min(sizes), 2))
    for name, value, low in asked:
        if value < low:
            raise InputError(name, f"must be at least {low}", value)
    if not all(0 <= each < 1 for each in differences):
        raise InputError("difference", "must be a share from 0 to below 1", list(differences))
    steps = [(request, n, share) for request in spec.audits for n in sizes for share in differences]
    nothing = all(AUDITS[request.name].unplanned for request in spec.audits)  # to read the data for
    subject = None if nothing else _independent_people(spec, seed)
    found = []
    for place, (request, n, difference) in enumerate(steps):
        people, reason = (n, others or n), AUDITS[request.name].unplanned
        if reason or subject is None:
            found.append(_without_plan(request.name, people, difference, reason))
        else:
            stretch = part(progress, place / len(steps), (place + 1) / len(steps))
            found.append(_simulate_plan(subject, request, people, difference, worlds, seed, stretch))
    return found


def planned(spec: Spec, **asked: Any) -> list[dict[str, Any]]:
    """Return what `plan` does as plain data."""
    return [dataclasses.asdict(each) for each in plan(spec, **asked)]


def _independent_people(spec: Spec, seed: int) -> Subject:
    """Return the people of a spec, one row each."""
    subject = prepared_subject(spec)
    if not subject.data.protected:
        raise InputError("data.protected", "must name an attribute whose groups are planned for")
    if subject.data.design is None:
        return subject
    if not subject.data.design.persons:
        raise InputError(
            "data.weights",
            "cannot be used in planning, because worlds are sampled row by row, as if each were one "
            "independent person",
            advice="leave it out, and read the sizes as numbers of independent people",
        )
    return subject.one_row_each(np.random.default_rng(seed))


def _without_plan(audit: str, sizes: tuple[int, int], difference: float, reason: str) -> PowerRow:
    none = Estimate(None, None, None, 0, "not run")
    return PowerRow(audit, sizes[0], difference, none, none, none, reason, sizes[1])


def _simulate_plan(
    subject: Subject,
    request: AuditRequest,
    sizes: tuple[int, int],
    difference: float,
    worlds: int,
    seed: int,
    progress: Progress,
) -> PowerRow:
    groups, (n, others) = _groups(subject.data, request.all_options()), sizes
    verdicts = []
    for world in range(worlds):
        told = f"world {world + 1:,} of {worlds:,} with {100 * difference:g} points planted"
        progress(world / worlds, f"{request.name.replace('_', ' ')}: {told} among {n:,} people")
        rng = np.random.default_rng([seed, n, round(1000 * difference), world])
        drawn = _world(subject, groups, sizes, difference, rng)
        try:
            result = AUDITS[request.name].run(drawn, request.options, rng=rng, progress=silent)
        except InputError as error:
            return _without_plan(request.name, sizes, difference, str(error))
        verdicts.append(result.verdict)
    evidence, no_material, insufficient = (
        wilson(sum(each == kind for each in verdicts), worlds)
        for kind in (EVIDENCE, NO_MATERIAL, INSUFFICIENT)
    )
    return PowerRow(request.name, n, difference, evidence, no_material, insufficient, others=others)


def _groups(data: AuditData, options: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the groups that a world has, each by attribute and value; the last one gets the difference."""
    if isinstance(options.get("source"), Mapping) and isinstance(options.get("target"), Mapping):
        asked = [options["target"], options["source"]]
        if all(isinstance(value, (str, int, float, bool)) for each in asked for value in each.values()):
            return [{name: str(value) for name, value in each.items()} for each in asked]
    by = options.get("by") or ()
    name = next((each for each in by if each in data.protected), data.protected[0])
    values = data.groups[name].value_counts().index
    return [{name: str(value)} for value in values]


def _world(
    subject: Subject,
    groups: list[dict[str, str]],
    sizes: tuple[int, int],
    difference: float,
    rng: np.random.Generator,
) -> Subject:
    data, (n, others) = subject.data, sizes
    people = [*[others] * (len(groups) - 1), n]
    size = sum(people)
    rows = rng.integers(data.n, size=size)
    decisions = np.asarray(subject.decisions)[rows].astype(float)
    own = np.arange(size - n, size)
    changed = round(difference * n)
    value = 1.0 if decisions[own].sum() >= changed else 0.0
    having = own[decisions[own] == value]
    decisions[rng.permutation(having)[:changed]] = 1.0 - value
    drawn = data.take(rows)
    frame = drawn.frame.reset_index(drop=True)
    frame.index = frame.index + 1
    frame.index.name = "row"
    own_group = np.repeat(np.arange(len(groups)), people)
    dealt = {name: np.array([group[name] for group in groups])[own_group] for name in groups[0]}
    table = with_columns(drawn.groups.set_axis(frame.index), dealt)
    drawn = dataclasses.replace(
        drawn,
        frame=frame.assign(**{_DECISION: decisions}),
        groups=table,
        kinds={**drawn.kinds, _DECISION: "continuous"},
        design=None,
        digest=f"{drawn.digest} {difference} {rng.bit_generator.state['state']['state']}",
    )
    return make_subject(
        drawn, ModelSpec(predictions=Predictions(score=_DECISION)), threshold=0.5, seed=subject.seed
    )
