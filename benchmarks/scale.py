"""Whole commands on large Parquet beside Arrow alone on the same columns.

    python -m benchmarks.scale [WORD …] [--millions 2 10]       the works whose name holds a word; all

Wall and processor time and the largest memory, from start to written results, at two sizes: what a million
rows more cost is the difference of the two.
"""

from __future__ import annotations

import os
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.dataset as ds
import yaml

from audits.runs.documents import dump_yaml
from benchmarks.measuring import Taken, asked, command
from benchmarks.samples.onnx_graph import Graph
from benchmarks.serving import ROOT

WORKS: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
_MOST_OF_CSV = 5  # million rows, which are read at most


def written(folder: Path, rows: int, what: str) -> Path:
    """Write so many people with two attributes, an age, a score, a label and more columns of numbers."""
    path = folder / ("people.csv" if "CSV" in what else "people.parquet")
    normal = "round(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()), 3)"
    drawn = (
        "if(random() < 0.5, 'f', 'm') AS sex, substr('aaaaaaaaaabbbbbbcccd', ceil(20 * random())::INT, 1) "
        "AS race, floor(18 + 72 * random())::INT AS age, round(random() * random(), 6) AS u"
    )
    columns = (
        "sex, race, age, round(0.95 * u + 0.05 * (sex = 'm')::INT, 6) AS score, (random() < u)::INT AS repaid"
    )
    columns += "".join(f", {normal} AS x{k}" for k in range(WORKS[what]["more"]))
    duckdb.sql(f"COPY (SELECT {columns} FROM (SELECT {drawn} FROM range({rows}))) TO '{path}'")
    return path


def bare(path: Path, data: dict[str, Any]) -> float:
    """Return the processor time of Arrow reading a spec's columns and grouping by its categories."""
    start = time.process_time()
    keys = [*data["protected"], *([data["label"]] if "label" in data else [])]
    read = ds.dataset(path, format=path.suffix[1:]).to_table(
        columns=[*keys, *data.get("features", ["score"])]
    )
    read.group_by(keys).aggregate([([], "count_all")])
    return time.process_time() - start


def network(columns: list[str]) -> bytes:
    """Return an ONNX network of two layers of 64 units over `columns`, with weights sampled at random."""
    rng, graph = np.random.default_rng(0), Graph("network")
    units = graph.op("Concat", *map(graph.number, columns), axis=1)
    for shape in ((len(columns), 64), (64, 64), (64, 1)):
        units = graph.op("MatMul", units, graph.constant(rng.normal(size=shape) / np.sqrt(shape[0])))
        units = graph.op("Relu" if shape[1] > 1 else "Sigmoid", units)
    return graph.to_bytes(units)


def run(path: Path, data: dict[str, Any], audits: list[Any]) -> Taken:
    """Have the command line carry out audits of a table."""
    model: dict[str, Any] = {"predictions": {"score": "score"}}
    if "features" in data:
        model = {"path": "network.onnx"}
        (path.parent / "network.onnx").write_bytes(network(data["features"]))
    spec = {"data": {"path": path.name, **data}, "model": model, "audits": audits}
    (path.parent / "spec.yaml").write_text(dump_yaml(spec), encoding="utf-8")
    known = {**os.environ, "PYTHONPATH": str(ROOT), "EVENHAND_MAX_FILE_MB": "2000"}
    given = ("-m", "audits", "run", "spec.yaml", "--executor", "inline", "--no-save")
    return command(*given, cwd=path.parent, env=known)


if __name__ == "__main__":
    given = asked(__doc__, words=[""], millions=[2.0, 10.0])
    for what, size in product(WORKS, given.millions):
        if not any(word in what for word in given.words) or ("CSV" in what and size > _MOST_OF_CSV):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path, work = written(Path(folder), int(size * 1e6), what), WORKS[what]
            ours, alone = run(path, work["data"], work["audits"]), bare(path, work["data"])
        took = f"{ours.seconds:.1f} s, {ours.processor:.1f} s of processor, {ours.gigabytes:.2f} GB"
        times = f"{ours.processor / alone:.0f} times as much"
        print(f"{what}, {size:g} M rows: {took}; Arrow alone {alone:.2f} s of processor, {times}", flush=True)
