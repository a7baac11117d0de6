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
import onnx
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from onnx import TensorProto, helper, numpy_helper
from pyarrow import csv

from audits.runs.documents import dump_yaml

_STEP = 1_000_000
_MOST_OF_CSV = 5  # million rows, which are read at most
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
    keys = [name for name in columns if name in {"sex", "race", "age", "repaid"}]
    ds.dataset(path, format=path.suffix[1:]).to_table(columns=columns).group_by(keys).aggregate(
        [([], "count_all")]
    )
    return time.process_time() - start


def network(path: Path, columns: list[str]) -> None:
    """Write an ONNX network of two layers of 64 units over `columns`, with weights sampled at random."""
    rng = np.random.default_rng(0)
    shapes = [(len(columns), 64), (64, 64), (64, 1)]
    weights = [
        numpy_helper.from_array(np.float32(rng.normal(size=shape) / np.sqrt(shape[0])), f"w{k}")
        for k, shape in enumerate(shapes)
    ]
    steps = [
        ("Concat", columns, "all"),
        ("MatMul", ["all", "w0"], "h0"),
        ("Relu", ["h0"], "a0"),
        ("MatMul", ["a0", "w1"], "h1"),
        ("Relu", ["h1"], "a1"),
        ("MatMul", ["a1", "w2"], "h2"),
        ("Sigmoid", ["h2"], "good"),
        ("Sub", ["one", "good"], "bad"),
        ("Concat", ["bad", "good"], "probabilities"),
    ]
    nodes = [
        helper.make_node(kind, given, [out], **({"axis": 1} if kind == "Concat" else {}))
        for kind, given, out in steps
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, 1]) for name in columns]
    outputs = [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, 2])]
    one = numpy_helper.from_array(np.float32([[1.0]]), "one")
    graph = helper.make_graph(nodes, "network", inputs, outputs, [*weights, one])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
    model.ir_version = 8
    onnx.save(model, path)


def command(folder: Path, path: Path, data: dict, model: dict, audits: dict) -> tuple[float, float, float]:
    """Return wall time, processor time and peak memory in GB of ``run``."""
    listed = [{name: options} for name, options in audits.items()]
    spec = {"data": {"path": path.name, **data}, "model": model, "audits": listed}
    (folder / "spec.yaml").write_text(dump_yaml(spec), encoding="utf-8")
    before, start = _spent(), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "audits", "run", "spec.yaml", "--executor", "inline", "--no-save"],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
            "EVENHAND_MAX_FILE_MB": "2000",
        },
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
    parser.add_argument("--millions", type=float, nargs="+", default=[2, 10])
    parser.add_argument("--only", metavar="WORD", help="only the work whose name holds it")
    chosen = parser.parse_args()
    labeled = {"protected": ["sex", "race", "age"], "label": "repaid", "favorable": 1}
    scored = {"predictions": {"score": "score"}}
    brought, one = {"path": "network.onnx"}, {**labeled, "protected": ["sex"]}
    few, many = ["x0", "x1", "age", "score"], [f"x{k}" for k in range(35)]
    work = (
        (
            "groups, 20 columns",
            15,
            _USED,
            {**labeled, "bins": {"age": [18, 30, 45, 60, 90]}},
            scored,
            {"groups": {}},
        ),
        (
            "groups and rule_sets, 20 columns of CSV",
            15,
            _USED,
            {**labeled, "bins": {"age": [18, 30, 45, 60, 90]}},
            scored,
            {"groups": {}, "rule_sets": {}},
        ),
        (
            "rule_sets, 5 columns",
            0,
            _USED[:4],
            {"protected": ["sex", "race", "age"]},
            scored,
            {"rule_sets": {}},
        ),
        (
            "sensitivity, 4 features, 200,000 rows drawn",
            2,
            [*few, "sex", "repaid"],
            {**one, "features": few, "draw": 200_000},
            brought,
            {"sensitivity": {}},
        ),
        (
            "loss_ratio, 35 features, 100,000 rows drawn",
            35,
            [*many, "sex", "repaid"],
            {**one, "features": many, "draw": 100_000},
            brought,
            {"loss_ratio": {"steps": 500}},
        ),
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, more, columns, data, model, audit in work:
            if chosen.only and chosen.only not in what:
                continue
            if "path" in model:
                network(folder / "network.onnx", data["features"])
            for millions in chosen.millions:
                if "CSV" in what and millions > _MOST_OF_CSV:
                    continue
                path = folder / "people.parquet"
                write(path, int(millions * _STEP), more)
                if "CSV" in what:
                    table, path = pq.read_table(path), path.with_suffix(".csv")
                    csv.write_csv(table, path)
                wall, spent, memory = command(folder, path, data, model, audit)
                alone = bare(path, columns)
                print(
                    f"{what}, {millions:g} M rows: {wall:.1f} s, {spent:.1f} s of processor, {memory:.2f} GB"
                )
                print(f"  Arrow alone: {alone:.2f} s of processor time; {spent / alone:.0f} times as much")


if __name__ == "__main__":
    main()
