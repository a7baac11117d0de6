"""Make the files of the bundled example sets again, but for specs and README, which are written by hand.

python -m benchmarks.samples.files sample_data
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from benchmarks.samples import admissions, arrests, hiring, law_school, loans


def contents() -> dict[str, bytes]:
    """Return data and models of all sets, name to bytes: the same on every machine."""
    applicants = hiring.generate(1_000)
    students, lives = law_school.generate(3_000)
    applications, harmed = loans.generate(5_000)
    return {
        "hiring.csv": csv_bytes(applicants, 6),
        "hiring.onnx": hiring.onnx_model(applicants, hiring.PUBLISHED[1_000]),
        "arrests.csv": csv_bytes(arrests.generate(2_000)),
        "law_school.csv": csv_bytes(students.join(lives[[*law_school.OTHER_LIVES.values()]]), 4),
        "law_school_truth.csv": csv_bytes(lives, 4),
        "admissions.csv": csv_bytes(admissions.generate(200, years=5, rule=0.25), 4),
        "loans.csv": csv_bytes(applications, 6),
        "loans_truth.csv": csv_bytes(harmed, 6),
        "loans.onnx": loans.onnx_model(),
    }


def csv_bytes(frame: pd.DataFrame, decimals: int | None = None) -> bytes:
    """Return `frame` as CSV; rounding keeps the last, machine-dependent digits out of the file."""
    if decimals is not None:
        frame = frame.round(decimals)
    whole = (frame.select_dtypes("float") % 1).fillna(0).eq(0).all()  # integers that a blank made floats
    counts = dict.fromkeys(whole.index[whole], "Int64")
    return frame.astype(counts).to_csv(index=False, lineterminator="\n").encode()


if __name__ == "__main__":
    for file, content in contents().items():
        (Path(sys.argv[1]) / file).write_bytes(content)
