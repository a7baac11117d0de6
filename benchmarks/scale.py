"""Whole commands on large Parquet beside Arrow alone on the same columns: ``python -m benchmarks.scale``.

Prints wall and processor time and the largest memory of each command, from start to written results, at two
sizes: what a million rows more cost is the difference of the two.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import csv

from audits.runs.documents import dump_yaml
from benchmarks.measuring import Taken, command
from benchmarks.samples.onnx_graph import Graph
from benchmarks.serving import ROOT

_STEP = 1_000_000
_MOST_OF_CSV = 5  # million rows, which are read at most


class Work(NamedTuple):
    """A run: what, columns of numbers beside the five, what Arrow reads, data, audits; scores come by column.

    Of a run with `features`, a network is written over these.
    """

    what: str
    more: int
    used: list[str]
    data: dict[str, Any]
    audits: dict[str, dict[str, Any]]


_USED = ["sex", "race", "age", "score", "repaid"]
_FEW, _MANY = ["x0", "x1", "age", "score"], [f"x{k}" for k in range(35)]
_LABEL = {"label": "repaid", "favorable": 1}
_BINNED = {**_LABEL, "protected": ["sex", "race", "age"], "bins": {"age": [18, 30, 45, 60, 90]}}
_ONE = {**_LABEL, "protected": ["sex"]}
WORKS = (
    Work("groups, 20 columns", 15, _USED, _BINNED, {"groups": {}}),
    Work("groups and rule_sets, 20 columns of CSV", 15, _USED, _BINNED, {"groups": {}, "rule_sets": {}}),
    Work("rule_sets, 5 columns", 0, _USED[:4], {"protected": ["sex", "race", "age"]}, {"rule_sets": {}}),
    Work(
        "sensitivity, 4 features, 200,000 rows drawn",
        *(2, [*_FEW, "sex", "repaid"], {**_ONE, "features": _FEW, "draw": 200_000}, {"sensitivity": {}}),
    ),
    Work(
        "loss_ratio, 35 features, 100,000 rows drawn",
        *(35, [*_MANY, "sex", "repaid"], {**_ONE, "features": _MANY, "draw": 100_000}),
        {"loss_ratio": {"steps": 500}},
    ),
)


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
    keys = [name for name in columns if name in {"sex", "race", "age", "repaid"}]
    ds.dataset(path, format=path.suffix[1:]).to_table(columns=columns).group_by(keys).aggregate(
        [([], "count_all")]
    )
    return time.process_time() - start


def network(columns: list[str]) -> bytes:
    """Return an ONNX network of two layers of 64 units over `columns`, with weights sampled at random."""
    rng, graph = np.random.default_rng(0), Graph("network")
    units = graph.op("Concat", *map(graph.number, columns), axis=1)
    for shape in ((len(columns), 64), (64, 64), (64, 1)):
        units = graph.op("MatMul", units, graph.constant(rng.normal(size=shape) / np.sqrt(shape[0])))
        units = graph.op("Relu" if shape[1] > 1 else "Sigmoid", units)
    return graph.to_bytes(units)


def run(path: Path, work: Work) -> Taken:
    """Have the command line carry out a work on a table."""
    model = {"path": "network.onnx"} if "features" in work.data else {"predictions": {"score": "score"}}
    if "features" in work.data:
        (path.parent / "network.onnx").write_bytes(network(work.data["features"]))
    listed = [{name: options} for name, options in work.audits.items()]
    spec = {"data": {"path": path.name, **work.data}, "model": model, "audits": listed}
    (path.parent / "spec.yaml").write_text(dump_yaml(spec), encoding="utf-8")
    known = {**os.environ, "PYTHONPATH": str(ROOT), "EVENHAND_MAX_FILE_MB": "2000"}
    given = ("-m", "audits", "run", "spec.yaml", "--executor", "inline", "--no-save")
    return command(*given, cwd=path.parent, env=known)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--millions", type=float, nargs="+", default=[2, 10])
    parser.add_argument("--only", metavar="WORD", default="", help="only the work whose name holds it")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for work in WORKS:
            if chosen.only not in work.what:
                continue
            for millions in chosen.millions:
                if "CSV" in work.what and millions > _MOST_OF_CSV:
                    continue
                path = Path(folder) / "people.parquet"
                write(path, int(millions * _STEP), work.more)
                if "CSV" in work.what:
                    table, path = pq.read_table(path), path.with_suffix(".csv")
                    csv.write_csv(table, path)
                ours, alone = run(path, work), bare(path, work.used)
                print(
                    f"{work.what}, {millions:g} M rows: {ours.seconds:.1f} s, {ours.processor:.1f} s of "
                    f"processor, {ours.gigabytes:.2f} GB\n"
                    f"  Arrow alone: {alone:.2f} s of processor; {ours.processor / alone:.0f} times as much"
                )


if __name__ == "__main__":
    main()
