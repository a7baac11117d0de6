"""The groups audit: count, rate, compare with the reference, judge."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from audits.checks import check_options, generator
from audits.data import AuditData
from audits.errors import InputError
from audits.groups.by_probability import (
    ProbableGroup,
    compare_probable,
    judged_of,
    probability_columns,
)
from audits.groups.comparison import compare, comparisons
from audits.groups.further_metrics import FurtherMetrics, check_limits, class_columns, not_cleared
from audits.groups.inference import ASKED_FIRST, judge_audit
from audits.groups.labels import KNOWN, LABEL, labels_of, with_labels, withheld
from audits.groups.metrics import METRICS, scikit_metric
from audits.groups.options import GroupsOptions
from audits.groups.people import (
    PeopleByGroup,
    attributes_of,
    design_of,
    people_table,
    sort_people,
    with_groups,
)
from audits.groups.result import GroupRow, GroupsResult, Spread
from audits.groups.text import few_people, finding_known, finding_probable
from audits.models import Subject
from audits.progress import Progress, silent
from audits.stats import Judgment, worst_of
from audits.stats.design import EFFECTIVE_SIZES
from audits.stats.text import count

_BY_DESIGN = f"{EFFECTIVE_SIZES} The bootstrap is left out."


def groups(
    subject: Subject,
    options: GroupsOptions | None = None,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> GroupsResult:
    """Compare the groups of each protected attribute, and of their intersections.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit. Without a label only selection rates exist.
    options : GroupsOptions
        What the auditor chose; the defaults where it is left out.
    rng : Generator or int
        Decides the bootstrap's draws, and nothing else here.

    Returns
    -------
    GroupsResult
        Differences of 0 and ratios of 1 say that the groups are treated alike.

    Raises
    ------
    InputError
        An attribute is not protected, the reference is unknown, or there are fewer than two groups.
    """
    options = check_options(GroupsOptions, options, "groups")
    _check_measure(subject, options)
    if subject.data.numeric is not None:
        _refuse_metrics(options)
        from audits.groups.amounts.audit import groups_by_amount

        return groups_by_amount(subject.everyone, options, progress=progress)
    check_limits(options)
    labeled, subject = subject, subject.everyone
    data = subject.data
    progress(0.0, "Scoring people")
    if data.design is not None and options.by_probability:
        raise InputError(
            "groups.by_probability",
            "treats each row as one independent person, but these have sampling weights, clusters or "
            "several rows per person, so its bounds would be too narrow",
            advice="leave it out",
        )
    decided = np.asarray(subject.decisions, dtype=bool)
    people, warnings = with_labels(people_table(data, score=subject.probabilities, decision=decided), labeled)
    people = with_groups(people, data)
    people = people.assign(**probability_columns(data.frame, options.by_probability))
    seed = int(generator(rng).integers(2**32))
    if options.classes:
        people = people.assign(**class_columns(subject))
    if data.gathered is not None:
        people = people.assign(**_score_sums(data, subject.higher_is))
    result = groups_from_people(people, data.protected, options, subject.outcome, data.rows, seed)
    result = dataclasses.replace(result, warnings=(*warnings, *result.warnings))
    if data.gathered is not None:
        rows = {"audited": data.rows, "used": data.rows, "left_out": {}}
        result = dataclasses.replace(result, people=people.iloc[:0], rows=rows)
    return with_sign(result, subject.higher_is)


def _check_measure(subject: Subject, options: GroupsOptions) -> None:
    """Raise InputError where the measure asked for cannot be had of these data."""
    numeric, measure = subject.data.numeric is not None, options.measure
    if measure == "amounts" and not numeric:
        raise InputError(
            "groups.measure", "needs a numeric outcome", measure, "write outcome: numeric under data"
        )
    if measure not in {None, "amounts"} and numeric:
        raise InputError(
            "groups.measure",
            "is for decisions, but the outcome is numeric",
            measure,
            "write measure: amounts, or cut the outcome",
        )
    if measure in {"equal_errors", "calibration"} and subject.data.y is None:
        raise InputError("groups.measure", "needs the true outcome", measure, "name its column as data.label")


def _refuse_metrics(options: GroupsOptions) -> None:
    """Refuse metrics of decisions where an amount is compared."""
    asked = [*options.metrics, *METRICS.asked, *(["classes"] if options.classes else [])]
    if asked:
        raise InputError(
            "groups.metrics", "are for decisions, but here an amount is compared", asked[0],
            "leave them out, or cut the label: {column: …, at_least: …}",
        )  # fmt: skip


def _score_sums(data: AuditData, higher_is: str) -> dict[str, np.ndarray]:
    """Return what is known of the scores behind a row that stands for several people."""
    assert data.gathered is not None and data.weights is not None  # noqa: S101, PT018 - so `build_data` has it
    gathered = data.gathered.reset_index(drop=True)
    each = data.weights / gathered["rows"].to_numpy()
    if "low" not in gathered:  # predicted labels: all of a row are alike
        return {"squares": 0.0 * each}
    low, high = gathered["low"].to_numpy(), gathered["high"].to_numpy()
    if higher_is == "unfavorable":
        low, high = -high, -low
    return {"squares": each * gathered["squares"].to_numpy(), "low": low, "high": high}


def with_sign(result: GroupsResult, higher_is: str) -> GroupsResult:
    """Return the result, which says so where scores are risks and are shown with their sign turned."""
    if higher_is != "unfavorable":
        return result
    turned = "Scores are risks here. They are shown with the sign reversed, so that higher is better."
    return dataclasses.replace(result, warnings=(*result.warnings, turned))


def groups_from_people(
    people: pd.DataFrame,
    protected: tuple[str, ...],
    options: GroupsOptions,
    outcome: str,
    audited: int,
    seed: int,
) -> GroupsResult:
    """Compare groups from the people's table alone: what a threshold slider calls.

    `seed` decides the bootstrap's draws, so that a moved threshold is the only thing that changes.
    """
    with METRICS.also(scikit_metric(name) for name in options.metrics):
        attributes = attributes_of(protected, options)
        # a risk score has its sign turned: it reaches from -1 to 0, not from 0 to 1
        least = float((people["low"] if "low" in people else people["score"]).min())
        most = float((people["high"] if "high" in people else people["score"]).max())
        low, high = (-1.0, 0.0) if most <= 0 and least < 0 else (0.0, 1.0)
        edges = np.linspace(min(least, low), max(most, high), 21)
        labels, design = labels_of(people), design_of(people)
        split = [
            sort_people(people[[f"group: {name}" for name in names]], names, people, labels, edges, design)
            for names in attributes
        ]
        why = withheld(people, split, options.level)
        known = labels is not None and not why
        rates = [metric.name for metric in METRICS.judged(labels=known)]
        if known and options.measure == "calibration":
            rates += [name for name in ASKED_FIRST["calibration"] if name not in rates]
        metrics = FurtherMetrics.asked(people, labels, why, seed)
        looks = sum(comparisons(item, options) for item in split) * (len(rates) + metrics.looks)
        looks += sum(len(names) - 1 for names in options.by_probability.values())
        if looks == 0:
            raise InputError("groups.by", "needs at least two groups with people in them")
        table: list[GroupRow] = []
        spreads: list[Spread] = []
        for item in split:
            rows, spread = compare(item, options, options.level / looks, seed, rates, metrics)
            table += rows
            spreads.append(spread)
        probable: tuple[ProbableGroup, ...] = ()
        for attribute in options.by_probability:
            rng = np.random.default_rng([seed, 1])  # anew, so that no attribute moves another's draws
            probable += compare_probable(people, attribute, options, corrected=options.level / looks, rng=rng)
        judged, finding = _judge(table, probable, options, looks)
        judged, further = not_cleared(judged, table)
        return GroupsResult(
            options=dataclasses.asdict(options),
            outcome=outcome,
            judged=judged,
            finding=f"{finding} {why}".rstrip(),
            warnings=(
                *further,
                *metrics.warnings,
                *_warnings(split, people),
                *(() if design is None else (_BY_DESIGN,)),
            ),
            rows={"audited": audited, "used": len(people), "left_out": {}},
            table=tuple(table),
            spreads=tuple(spreads),
            score_edges=tuple(edges.tolist()),
            people=people,
            bootstrap_seed=seed,
            simultaneous_level=options.level / looks,
            probable=probable,
            widest_attribute=max(spreads, key=_apart).attribute if spreads else "",
        )


def _apart(spread: Spread) -> tuple[float, float]:
    gap = spread.demographic_parity_difference
    return gap.low or 0.0, gap.value or 0.0


def _judge(
    table: Sequence[GroupRow],
    probable: Sequence[ProbableGroup],
    options: GroupsOptions,
    looks: int,
) -> tuple[Judgment, str]:
    """Return what the verdict rests on, among groups known and probable, and the finding on it."""
    parts: list[tuple[Judgment, str]] = []
    if any(not row.is_reference for row in table):
        known = judge_audit(table, options.material, looks, options.measure)
        parts.append((known, finding_known(table, known, options, looks)))
    for group in probable:
        if not group.is_reference:
            reference = next(g for g in probable if g.is_reference and g.attribute == group.attribute)
            parts.append(
                (
                    judged_of(group, options.material, looks),
                    finding_probable(group, reference, options, looks),
                )
            )
    worst = worst_of(judged for judged, _ in parts)
    return next(part for part in parts if part[0] is worst)


def _warnings(split: list[PeopleByGroup], people: pd.DataFrame) -> list[str]:
    found = []
    if LABEL not in people:
        found.append(
            "There are no outcomes to compare with, so error rates, precision and accuracy are left out."
        )
    elif KNOWN in people:
        known, everybody = people.loc[people[KNOWN], "people"].sum(), people["people"].sum()
        found.append(
            f"Selection rates cover everyone. Rates that need the outcome cover the {count(known)} of "
            f"{count(everybody)} people whose outcome is known."
        )
    for item in split:
        small = [name for name, n in zip(item.names, item.counts.n, strict=True) if n < 10]
        if small:
            found.append(few_people(item.attribute, small))
    return found
