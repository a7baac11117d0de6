"""What is said of the data and the model of a run whose table is too large to be read whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from audits.data.larger import parquet_files
from audits.data.tables import FileReport, ReadReport
from audits.errors import InputError
from audits.models import Predictions
from audits.models.predictions import PredictedLabel, PredictedScore
from audits.progress import Progress, part
from audits.runs.digests import digest_of, path_digest

if TYPE_CHECKING:
    from audits.runs.spec import Spec

__all__ = ["large_facts"]


def large_facts(spec: Spec, expected: list[str], progress: Progress) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a result says of the data and of the model.

    Raises
    ------
    InputError
        If a file has changed since `expected` was taken.
    """
    if spec.digests() != expected:
        raise InputError(
            "data.path", "names a file that changed since the run was asked for", advice="run it again"
        )
    told = part(progress, 0.0, 0.05)
    paths = [path for where, _, path in spec.paths() if where.startswith("data.path")]
    files = parquet_files(paths)
    reports = []
    for place, file in enumerate(files):
        told(place / len(files), f"Opening {file.name}")
        digest = path_digest(file, "data.path", file.name)
        reports.append(FileReport(file.name, digest, "parquet", pq.read_metadata(file).num_rows))
    report = ReadReport(tuple(reports), {})
    data = {
        "rows_read": report.rows,
        "rows_used": report.rows,
        "rows_audited": report.rows,
        "rows_trained": 0,
        "excluded": {},
        "imputed": {},
        "sha256": report.sha256,
        "files": report.to_dict()["files"],
        "notes": [
            *report.sentences(),
            "The table is too large to be read whole: people were counted batch by batch, no row is kept.",
        ],
    }
    return data, _model(spec, report)


def _model(spec: Spec, report: ReadReport) -> dict[str, Any]:
    predictions = spec.model.predictions or Predictions()
    sha256 = digest_of([report.sha256, predictions.score, predictions.label, predictions.higher_is])
    given = spec.data.favorable if isinstance(spec.data.favorable, tuple) else (spec.data.favorable,)
    by_score = predictions.score is not None
    if by_score:
        name = PredictedScore(str(predictions.score), predictions.higher_is, sha256).name
        relation = "below" if predictions.higher_is == "unfavorable" else "at least"
        rule = f"favorable where the score is {relation} {spec.threshold}"
    else:
        name = PredictedLabel(str(predictions.label), tuple(given), sha256).name
        rule = "favorable where the predicted label is"
    return {
        "name": name,
        "sha256": sha256,
        "classes": None,
        "columns": [predictions.score or predictions.label],
        "invents": False,
        "score_kind": "number" if by_score else "label",
        "higher_is": predictions.higher_is,
        "threshold": spec.threshold,
        "rule": rule,
        "trained_on": None,
        "audited": report.rows,
        "notes": [],
        "quality": None,
    }
