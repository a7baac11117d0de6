"""A second model that is the first one, trained again by mitigation: the step that mitigation chose."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from audits.errors import InputError
from audits.mitigation.audit import mitigation
from audits.mitigation.options import MitigationOptions
from audits.models import Subject
from audits.models.thresholds import Threshold, check_threshold
from audits.progress import Progress, silent
from audits.stats import INSUFFICIENT, Verdict
from audits.stats.text import count
from audits.subgroups.attributes import quote_rule_set


@dataclass
class _Kept:
    """The subjects that mitigation judges, as it judges them: first the model as it was, then the chosen."""

    verdict: Verdict = INSUFFICIENT
    finding: str = ""
    subjects: list[Subject] = field(default_factory=list)

    def __call__(self, subject: Subject, _: Progress) -> _Kept:
        self.subjects.append(subject)
        return self


def treated_model(
    first: Subject,
    options: MitigationOptions,
    *,
    threshold: Threshold,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[Subject, tuple[str, ...]]:
    """Return `first` with the model that mitigation chooses, and what was done, in sentences.

    With the random stream of a mitigation of the same options it is that one's model.

    Raises
    ------
    InputError
        The model was not trained here, rows are not people, or the data cannot make rules.
    """
    if first.data.design is not None:
        raise InputError(
            "compare.treated",
            "treats each row as one independent person, but these have sampling weights, strata or clusters",
            advice="name the second model instead: compare: {model: …}",
        )
    kept = _Kept()
    found = mitigation(first, options, others={"kept": kept}, splits=1, rng=rng, progress=progress)
    chosen = kept.subjects[-1]
    added, group = found.steps[found.chosen].added, quote_rule_set(found.rule_set)
    said = (
        f"The second model is the first one retrained with {count(added)} more samples of {group}, whose "
        "decisions differed most in training. That number was chosen on the people audited, so the gap of "
        f"{group} looks a little smaller here than it is for others."
        if found.chosen
        else f"No number of samples of {group} reduced the difference without losing a point of accuracy, "
        "so the second model equals the first."
    )
    return (
        dataclasses.replace(
            first,
            model=chosen.model,
            threshold=check_threshold(threshold, first.data.groups, first.score_kind),
            notes=(*first.notes, said),
        ),
        (said,),
    )
