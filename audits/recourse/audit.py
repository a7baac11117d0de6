"""The recourse audit: counterparts among the accepted, the way towards them, and who has to go how far."""

from __future__ import annotations

import numpy as np

from audits.checks import generator
from audits.data.intersections import group_codes
from audits.data.partition import sample_people
from audits.errors import InputError
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.records import says_what_it_lacks
from audits.recourse.actions import actions_of, between_people
from audits.recourse.alternatives import find_ways, group_actions
from audits.recourse.assembly import AlternativesParts, pack_recourse
from audits.recourse.inference import burden_of
from audits.recourse.options import RecourseOptions
from audits.recourse.paths import (
    RecoursePath,
    RejectedPeople,
    fewest_changes,
    reached_by_any,
    walk,
)
from audits.recourse.result import NOT_DRAWN, RecourseResult
from audits.results import Optimum
from audits.transport import exact_coupling


@says_what_it_lacks
def recourse(
    subject: Subject,
    options: RecourseOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> RecourseResult:
    """Move rejected people towards their accepted counterparts, in what they can change.

    Parameters
    ----------
    subject : Subject
        Data with roles, model and threshold under audit.
    options : RecourseOptions
    rng : Generator, int or None
        Draws of permutations and a subsample; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Returns
    -------
    RecourseResult
        Equal burdens and shares say that rejected people of all groups have equally far to go.

    Raises
    ------
    InputError
        The model is a column of predictions; no column can be changed that it reads; everyone is accepted,
        or nobody; a limit or weight does not fit its column; people in between are asked for, whom the
        model cannot score.

    Notes
    -----
    Equation 15 of Kwegyir-Aggrey, Santorella, Brown (2021): ``(1 - α) a + α Σ_b n π(a, b) b``, on actionable
    features, then the nearest admissible row, unless `interpolation` is ``"literal"``.
    """
    rng = generator(rng)
    progress(0.0, "Finding who is rejected")
    if not subject.model.invents:
        raise InputError(
            "model",
            "must be a model that can be asked, not a column of predictions",
            advice="upload a model file, or train one here",
        )
    actions, warnings = actions_of(subject, options)
    people, accepted = _sides(subject, options, rng)
    data = subject.data
    encoded = actions.space.encode(data.frame)
    coupling = exact_coupling(
        subject.scores[people.positions, None],
        subject.scores[accepted, None],
        cost="l2_squared",
        a=people.weights,
        b=data.row_weights[accepted],
    )
    start, goal = encoded[people.positions], coupling.average(encoded[accepted])
    literal = options.interpolation == "literal"
    between = between_people(subject, options, actions, people.frame) if literal else None
    way = RecoursePath(subject, options, actions, people, accepted, start, goal, between)
    path = walk(way, part(progress, 0.05, 0.7))
    burden = burden_of(way, path, rng)
    sets: list[tuple[str, ...] | None] = [None] * len(start)
    proved = np.ones(len(start), dtype=bool)
    if options.fewest and not literal:  # a set of columns is turned to whole values
        sets, proved = fewest_changes(way, way.at(max(path.grid)), progress=part(progress, 0.7, 0.9))
    progress(0.9, "Trying every accepted person's values")
    reached, tried = reached_by_any(way, np.flatnonzero(burden.never), rng)
    ways = find_ways(way, rng, part(progress, 0.9, 0.98)) if options.ways else None
    found = AlternativesParts(
        path=path,
        burden=burden,
        sets=sets,
        proved=proved,
        reached=reached,
        tried=tried,
        certificate=Optimum(float(coupling.cost), float(coupling.slack), coupling.method),
        warnings=(*people.warnings, *warnings),
        ways=ways,
        group_actions=() if ways is None else group_actions(way, ways, rng),
    )
    progress(0.98, "Writing the tables")
    return pack_recourse(way, found)


def _sides(
    subject: Subject, options: RecourseOptions, rng: np.random.Generator
) -> tuple[RejectedPeople, np.ndarray]:
    data = subject.data
    decided = np.asarray(subject.decisions, dtype=bool)
    rejected, accepted = np.flatnonzero(~decided), np.flatnonzero(decided)
    for positions, rule in (
        (rejected, "has nobody to help: the model accepts everyone audited"),
        (accepted, "has no counterparts: the model accepts nobody audited"),
    ):
        if not len(positions):
            raise InputError("recourse", rule, advice="check the threshold")
    code, names = group_codes(data, options.by, "recourse.by")
    left_out, warnings = {"already accepted": len(accepted)}, []
    followed, weights = sample_people(data, rejected, options.max_people, rng)
    if len(followed) < len(rejected):
        left_out[NOT_DRAWN] = len(rejected) - len(followed)
        known = data.row_weights[rejected].sum()
        warnings.append(
            f"Of {known:,.0f} rejected people a random {weights.sum():,.0f} were followed (max_people)."
        )
        rejected = followed
    present, code = np.unique(code[rejected], return_inverse=True)
    people = RejectedPeople(
        positions=rejected,
        weights=weights,
        frame=data.frame.iloc[rejected],
        groups=data.groups.iloc[rejected],
        code=code,
        names=tuple(names[k] for k in present),
        left_out=left_out,
        warnings=tuple(warnings),
    )
    return people, accepted
