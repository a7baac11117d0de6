"""Whole commands on large Parquet beside Arrow alone on the same columns.

    python -m benchmarks.scale [WORD …] [--millions 2 10]       the works whose name holds a word; all

Wall and processor time and the largest memory, from start to written results, at two sizes: what a million
rows more cost is the difference of the two.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow.dataset as ds

from audits.runs.documents import dump_yaml
from benchmarks.measuring import Taken, asked, command
from benchmarks.samples.onnx_graph import Graph
from benchmarks.serving import ROOT

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
_SEX = {**_LABEL, "protected": ["sex"]}
_DRAWN, _MOVED = {**_SEX, "features": _FEW, "draw": 200_000}, {**_SEX, "features": _MANY, "draw": 100_000}
_BOTH, _STEPS = {"groups": {}, "rule_sets": {}}, {"loss_ratio": {"steps": 500}}
WORKS = (
    Work("groups, 20 columns", 15, _USED, _BINNED, {"groups": {}}),
    Work("groups and rule_sets, 20 columns of CSV", 15, _USED, _BINNED, _BOTH),
    Work("rule_sets, 5 columns", 0, _USED[:4], {"protected": ["sex", "race", "age"]}, {"rule_sets": {}}),
    Work("sensitivity, 4 features, 200,000 drawn", 2, [*_FEW, "sex", "repaid"], _DRAWN, {"sensitivity": {}}),
    Work("loss_ratio, 35 features, 100,000 drawn", 35, [*_MANY, "sex", "repaid"], _MOVED, _STEPS),
)


def written(folder: Path, rows: int, work: Work) -> Path:
    """Write so many people with two attributes, an age, a score, a label and more columns of numbers."""
    path = folder / ("people.csv" if "CSV" in work.what else "people.parquet")
    normal = "round(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()), 3)"
    drawn = (
        "if(random() < 0.5, 'f', 'm') AS sex, substr('aaaaaaaaaabbbbbbcccd', ceil(20 * random())::INT, 1) "
        "AS race, floor(18 + 72 * random())::INT AS age, round(random() * random(), 6) AS u"
    )
    columns = (
        "sex, race, age, round(0.95 * u + 0.05 * (sex = 'm')::INT, 6) AS score, (random() < u)::INT AS repaid"
    )
    columns += "".join(f", {normal} AS x{k}" for k in range(work.more))
    duckdb.sql(f"COPY (SELECT {columns} FROM (SELECT {drawn} FROM range({rows}))) TO '{path}'")
    return path


def bare(path: Path, columns: list[str]) -> float:
    """Return the processor time of Arrow reading the columns and grouping by the categories among them."""
    start = time.process_time()
    keys = [name for name in columns if name in {"sex", "race", "age", "repaid"}]
    read = ds.dataset(path, format=path.suffix[1:]).to_table(columns=columns)
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


def run(path: Path, work: Work) -> Taken:
    """Have the command line carry out a work on a table."""
    model: dict[str, Any] = {"predictions": {"score": "score"}}
    if "features" in work.data:
        model = {"path": "network.onnx"}
        (path.parent / "network.onnx").write_bytes(network(work.data["features"]))
    listed = [{name: options} for name, options in work.audits.items()]
    spec = {"data": {"path": path.name, **work.data}, "model": model, "audits": listed}
    (path.parent / "spec.yaml").write_text(dump_yaml(spec), encoding="utf-8")
    known = {**os.environ, "PYTHONPATH": str(ROOT), "EVENHAND_MAX_FILE_MB": "2000"}
    given = ("-m", "audits", "run", "spec.yaml", "--executor", "inline", "--no-save")
    return command(*given, cwd=path.parent, env=known)


def commands(words: list[str], millions: list[float]) -> Iterator[str]:
    """Word what each command takes at each size."""
    for work, size in product(WORKS, millions):
        if not any(word in work.what for word in words) or ("CSV" in work.what and size > _MOST_OF_CSV):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = written(Path(folder), int(size * 1e6), work)
            ours, alone = run(path, work), bare(path, work.used)
        took = f"{ours.seconds:.1f} s, {ours.processor:.1f} s of processor, {ours.gigabytes:.2f} GB"
        peer = f"Arrow alone {alone:.2f} s of processor, {ours.processor / alone:.0f} times as much"
        yield f"{work.what}, {size:g} M rows: {took}; {peer}"


if __name__ == "__main__":
    given = asked(__doc__, words=[""], millions=[2.0, 10.0])
    for told in commands(given.words, given.millions):
        print(told, flush=True)
