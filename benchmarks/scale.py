"""Whole commands on large Parquet beside Arrow alone on the same columns: ``python -m benchmarks.scale``.

Prints wall and processor time and the largest memory of each command, from start to written results, at two
sizes: what a million rows more cost is the difference of the two.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from audits.runs.documents import dump_yaml

_STEP = 1_000_000
_USED = ["sex", "race", "age", "score", "repaid"]


def people(rows: int, seed: int, more: int) -> pa.Table:
    """Return people with two attributes, an age, a score, a label and `more` columns of numbers."""
    rng = np.random.default_rng(seed)
    sex, race = rng.integers(0, 2, rows), rng.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05])
    score = np.clip(rng.beta(2, 3, rows) + 0.05 * sex - 0.03 * race, 0, 1).round(6)
    columns = {
        "sex": pa.array(np.array(["f", "m"], dtype=object)[sex]),
        "race": pa.array(np.array(list("abcd"), dtype=object)[race]),
        "age": pa.array(rng.integers(18, 90, rows)),
        "score": pa.array(score),
        "repaid": pa.array((rng.random(rows) < score).astype(np.int64)),
    }
    columns |= {f"x{k}": pa.array(rng.normal(size=rows).round(3)) for k in range(more)}
    return pa.table(columns)


def write(path: Path, rows: int, more: int) -> None:
    """Write so many people, a million at a time."""
    writer = None
    for done in range(0, rows, _STEP):
        table = people(min(_STEP, rows - done), done, more)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def bare(path: Path, columns: list[str]) -> float:
    """Return the processor time of Arrow reading the columns and grouping by the categories among them."""
    start = time.process_time()
    keys = [name for name in columns if name != "score"]
    ds.dataset(path).to_table(columns=columns).group_by(keys).aggregate(
        [("score", "mean"), ([], "count_all")]
    )
    return time.process_time() - start


def command(folder: Path, path: Path, data: dict, audit: dict) -> tuple[float, float, float]:
    """Return wall time, processor time and peak memory in GB of ``run``."""
    spec = {
        "data": {"path": path.name, **data},
        "model": {"predictions": {"score": "score"}},
        "audits": [audit],
    }
    (folder / "spec.yaml").write_text(dump_yaml(spec), encoding="utf-8")
    before, start = _spent(), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "audits", "run", "spec.yaml", "--executor", "inline", "--no-save"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the command ended with {status}")
    return time.perf_counter() - start, _spent() - before, used.ru_maxrss / 2**20


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--millions", type=int, nargs="+", default=[2, 10])
    chosen = parser.parse_args()
    labelled = {"protected": ["sex", "race", "age"], "label": "repaid", "favorable": 1}
    work = (
        (
            "groups, 20 columns",
            15,
            _USED,
            {**labelled, "bins": {"age": [18, 30, 45, 60, 90]}},
            {"groups": {}},
        ),
        ("rule_sets, 5 columns", 0, _USED[:4], {"protected": ["sex", "race", "age"]}, {"rule_sets": {}}),
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, more, columns, data, audit in work:
            for millions in chosen.millions:
                path = folder / "people.parquet"
                write(path, millions * _STEP, more)
                wall, spent, memory = command(folder, path, data, audit)
                alone = bare(path, columns)
                print(f"{what}, {millions} M rows: {wall:.1f} s, {spent:.1f} s of processor, {memory:.2f} GB")
                print(f"  Arrow alone: {alone:.1f} s of processor time")


if __name__ == "__main__":
    main()
