"""The mitigation with other audits' findings before and after: only here are all audits known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from audits.checks import build, one_of
from audits.mitigation.audit import mitigation_audit
from audits.mitigation.options import MitigationOptions
from audits.mitigation.record import AUDIT as OWN
from audits.mitigation.result import MitigationResult
from audits.models import Subject
from audits.progress import Progress, silent
from audits.runs.registry import AUDITS, usual_others


def mitigation_with_others(
    subject: Subject,
    options: MitigationOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> MitigationResult:
    """Run `mitigation_audit` with the audits that ``options.also`` names, each with the same seed every time.

    Raises
    ------
    InputError
        For an audit that does not exist, or options that it does not have.
    """

    def runner(name: str, given: dict[str, Any]) -> Callable[[Subject, Progress], Any]:
        where = f"{OWN.name}.also.{name}"
        known = [each for each in AUDITS if each != OWN.name]
        audit = AUDITS[one_of(where, name, known, what="the name of an audit")]
        checked: Any = build(audit.options, given, where)

        def run(judged: Subject, stretch: Progress) -> Any:
            def told(share: float, doing: str) -> None:
                stretch(share, f"{audit.title}: {doing[:1].lower()}{doing[1:]}")

            alone = audit.decisions_alone is not None and audit.decisions_alone(checked, judged.data)
            return audit.run(judged.everyone if alone else judged, checked, rng=subject.seed, progress=told)

        return run

    also = usual_others(subject.data, subject.train) if options.also is None else options.also
    others = {name: runner(name, given) for name, given in also.items()}
    return mitigation_audit(subject, options, others=others, rng=rng, progress=progress)
