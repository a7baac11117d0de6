"""What a report shows of a sensitivity audit."""

from __future__ import annotations

from functools import partial

import pandas as pd

from audits.data import named_with
from audits.records import Exhibit, Section
from audits.results import frame_of
from audits.sensitivity import SensitivityResult, figures
from audits.sensitivity.match_sets.sets import QUANTILES
from audits.stats import Estimate
from audits.stats.badges import interval_text
from audits.stats.text import count, estimate_text, number, people, people_in, percent, percent_interval
from audits.text import begun, points_words

PROXIES, FLAGGED = "How well do proxies reveal it?", "Who is flagged?"
"""Tabs of their own."""


def section(result: SensitivityResult) -> Section:
    """Arrange a sensitivity audit."""
    about = " or ".join(result.protected)
    exhibits = [
        Exhibit(
            "by_group",
            f"Dependence on proxies for {about}: {interval_text(result.judged) or 'no interval'}",
            "Dot: mean sensitivity, in times that of everyone else. Thick: the interval that decides.",
            lambda: figures.groups(result),
            result.to_frame,
        ),
        Exhibit(
            "features",
            _first_feature(result),
            f"Bar: share of all sensitivity. Line: interval.{_of_few(result)}",
            lambda: figures.features(result),
            result.features_frame,
            tab="apart",
        ),
        *_match_set(result),
        Exhibit(
            "status",
            f"{begun(about)} guessed from the other features: {_areas(result)}",
            "On the line: probabilities are right. Flat: the features reveal little.",
            lambda: figures.calibration(result),
            result.calibration_frame,
            tab=PROXIES,
        ),
        Exhibit(
            "histogram",
            f"{count(result.above)} of {people(result.flagged.n)} are flagged",
            "Bar: people by sensitivity. Right of the line: flagged. Gray band: the interval of the line.",
            lambda: figures.histogram(result),
            result.histogram_frame,
            bars=True,
            tab=FLAGGED,
        ),
        *(
            Exhibit(
                f"ridges_{name}",
                _most_sensitive(result, name),
                "People by sensitivity, each group scaled to its own peak. Right of the line: flagged.",
                partial(figures.ridges, result, name),
                partial(_rows, result, name),
                tab="who",
            )
            for name in result.protected
        ),
    ]
    return Section(title="Prediction sensitivity", exhibits=tuple(exhibits), facts=_facts(result))


def _first_feature(result: SensitivityResult) -> str:
    """Say through which feature most of the sensitivity goes."""
    known = [item for item in result.by_feature if item.share.value is not None]
    if not known:
        return "No feature has any sensitivity"
    return (
        f"{percent(known[0].share.value, known[0].share.n)} of the sensitivity is due to {known[0].feature}"
    )


def _areas(result: SensitivityResult) -> str:
    return ", ".join(f"AUC {number(each.auc.value)}" for each in result.status)


def _most_sensitive(result: SensitivityResult, attribute: str) -> str:
    """Say which group of an attribute is most sensitive on average, and which least."""
    known = [item for item in result.groups if item.attribute == attribute and item.mean.value is not None]
    known = sorted(known, key=lambda item: -(item.mean.value or 0.0))
    if len(known) < 2:
        return f"Sensitivity by {attribute}"
    ends = ((named_with(attribute, each.group), number(each.mean.value)) for each in (known[0], known[-1]))
    named = [f"{people_in(group)} ({mean})" for group, mean in ends]
    return begun(f"{named[0]} are most sensitive on average, {named[1]} least")


def _match_set(result: SensitivityResult) -> list[Exhibit]:
    """What the match set shows; nothing where there is none."""
    found = result.match_set
    if found is None:
        return []
    exhibits = [
        Exhibit(
            "match_set",
            found.question,
            "Further up and left: better. Dashed and dotted: two rivals that ignore groups."
            f"{_few_otherwise(found.mismatched)}",
            lambda: figures.match_curves(result),
            lambda: curves_table(result),
            tab=PROXIES,
        )
    ]
    if found.sides:
        exhibits.append(
            Exhibit(
                "match_sides",
                "In and out of the match set",
                "Sensitivity of people whose decision stays the same, and of those whose decision changes.",
                lambda: figures.match_sides(result),
                lambda: sides_table(result),
            )
        )
    if found.metrics:
        exhibits.append(
            Exhibit(
                "twin_metrics",
                "Group metrics of the model and of its twin",
                "Largest differences between groups: of the model, its twin, and the model trained anew.",
                lambda: figures.twin_metrics(result),
                lambda: metrics_table(result),
            )
        )
    return exhibits


_FEW = 200  # people; of 1,000 the intervals hold (docs/calibration.md)
_FEW_OTHERWISE = 30  # decided otherwise, or alike


def _of_few(result: SensitivityResult) -> str:
    """Say what few people cost the intervals of features' parts."""
    if result.rows["used"] > _FEW:
        return ""
    return " With about 100 people, all intervals hold together in 91 of 100 samples, not 95."


def _few_otherwise(mismatched: Estimate) -> str:
    """Say what few people decided otherwise cost the intervals of areas."""
    few = min(mismatched.value or 0.0, 1 - (mismatched.value or 0.0)) * mismatched.n
    if few > _FEW_OTHERWISE:
        return ""
    return (
        " With 20 people or fewer who get another decision, intervals of areas hold in about 90 of 100 "
        "samples, and in 87 within bands, not in 95."
    )


def _rows(result: SensitivityResult, attribute: str) -> pd.DataFrame:
    table = result.to_frame()
    return table[table["attribute"] == attribute]


def sides_table(result: SensitivityResult) -> pd.DataFrame:
    """Return sensitivity in and out of the match set as a table."""
    sides = () if result.match_set is None else result.match_set.sides
    sides = tuple(side for side in sides if side.quantiles)
    columns = {"people are": "name", "people": "mean.n", ("mean sensitivity", "low", "high"): "mean"}
    shares = [f"{100 * share:g}% are below" for share in QUANTILES]
    below = pd.DataFrame([side.quantiles for side in sides], columns=shares)
    return frame_of(sides, columns).join(below)


def metrics_table(result: SensitivityResult) -> pd.DataFrame:
    """Return the group metrics of the model and of its twin as a table."""
    return frame_of(
        () if result.match_set is None else result.match_set.metrics,
        {
            "attribute": "attribute",
            "rate": "metric",
            "model": "model",
            ("largest difference", "low", "high"): "difference",
            "interval": "difference.method",
        },
    )


def curves_table(result: SensitivityResult) -> pd.DataFrame:
    """Return the points of the ROC curves as a table."""
    found = result.match_set
    if found is None or not found.curves:
        return pd.DataFrame()
    parts = [
        pd.DataFrame(
            {
                "score": curve.name,
                "false positive": curve.false_positive,
                "true positive": curve.true_positive,
                "low": curve.low,
                "high": curve.high,
            }
        )
        for curve in found.curves
    ]
    return pd.concat(parts, ignore_index=True)


def _facts(result: SensitivityResult) -> dict[str, str]:
    threshold = result.threshold
    facts = {
        "Mean sensitivity": f"{estimate_text(result.baseline.mean)}; {result.baseline.mean.method}",
        "Threshold": f"{estimate_text(threshold).removesuffix(', no interval')}; {threshold.method}; above "
        f"it {people(result.above)} ({percent_interval(result.flagged)})",
        "How": result.method,
    }
    for each in result.status:
        given = "given the protected column" if each.given_protected else "not given the protected column"
        off = points_words(f"{100 * each.calibration_error:.0f}")
        facts[f"Protected-status model for {each.attribute}"] = (
            f"{each.kind}, {given}, learned from {count(each.trained_on)} people; AUC "
            f"{estimate_text(each.auc)}, probabilities off by {off} on average"
        )
    facts["Match set"] = result.match_set_note if result.match_set is None else result.match_set.sentence
    facts["People used"] = result.people_used
    return facts
