"""Run a spec of this folder and pack what it found: the one place here that knows the package's names.

A document has three parts. ``arithmetic`` says how this machine rounds. ``results`` is results.json, whole,
but for the version and the folders in which files lie. ``tables`` stands for the tables with one row a
person, of which nothing but means and digests is kept, so that real people's rows never enter the repository.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from audits.results import tables
from audits.runs.documents import load_document
from audits.runs.executing.inline import InlineExecutor
from audits.runs.executing.threads import fixed_threads

HERE = Path(__file__).resolve().parent
SPECS = HERE / "specs"
RECORDED = HERE / "results"
NAMES = sorted(path.stem for path in SPECS.glob("*.yaml"))

_ROWS = {"worst"}
"""Keys of results.json whose lists name single people (row numbers of the user's table)."""


def needs_shared(name: str) -> bool:
    """Tell whether a spec reads the real data beside the checkout."""
    return name.startswith("shared-")


def run(name: str) -> dict[str, Any]:
    """Run the spec `name` in this process, keeping nothing, and return its document."""
    spec = SPECS / f"{name}.yaml"
    result = InlineExecutor().submit(load_document(spec), spec.parent).result()
    document = {
        "arithmetic": arithmetic(),
        "results": result.to_json(),
        "tables": {
            f"{place}-{audit.name}": {key: _sums(table) for key, table in tables(audit.result).items()}
            for place, audit in enumerate(result.audits)
        },
    }
    del document["results"]["evenhand"]
    packed = _without_folders(document)
    if needs_shared(name):
        packed["results"] = _without_people(packed["results"])
    return json.loads(json.dumps(packed, allow_nan=False))


@functools.cache
def arithmetic() -> str:
    """Return a digest of some sums and a short training that none of our code takes part in.

    Processors and builds of the libraries order the same sums differently. Where this digest is equal, so is
    every last bit of a run, and nothing needs a tolerance.
    """
    import torch

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 200)), rng.normal(size=300)
    with fixed_threads(), torch.random.fork_rng(devices=[]):
        solved = np.linalg.solve(x.T @ x + np.eye(200), x.T @ y)
        sums = [solved, np.exp(x).sum(1), np.log1p(x**2) @ solved, np.tanh(x).std(0)]
        torch.manual_seed(0)
        inputs, targets = torch.from_numpy(x).float(), torch.from_numpy(y > 0).float()
        layers = torch.nn.Sequential(torch.nn.Linear(200, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
        optimiser = torch.optim.Adam(layers.parameters(), lr=0.01)
        for _ in range(20):
            optimiser.zero_grad()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(layers(inputs)[:, 0], targets)
            loss.backward()
            optimiser.step()
        sums += [value.detach().numpy() for value in layers.parameters()]
    told = torch.backends.cpu.get_cpu_capability().encode()  # of some sums only the last bit tells it
    content = b"".join([told, *(np.ascontiguousarray(value).tobytes() for value in sums)])
    return hashlib.sha256(content).hexdigest()[:16]


def recorded(name: str) -> dict[str, Any]:
    """Return the document that was recorded for the spec `name`."""
    return json.loads(gzip.decompress((RECORDED / f"{name}.json.gz").read_bytes()))


def record(name: str, document: dict[str, Any]) -> None:
    """Write the document of the spec `name`: equal documents give equal bytes."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    (RECORDED / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def _without_folders(value: Any) -> Any:
    """Return plain data in which a relative path is the name of its file."""
    if isinstance(value, dict):
        return {key: _without_folders(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_folders(item) for item in value]
    return value.rpartition("/")[2] if isinstance(value, str) and value.startswith("../") else value


def _without_people(value: Any) -> Any:
    """Return plain data in which a list that names people is a digest and its length."""
    if isinstance(value, list):
        return [_without_people(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: {"entries": len(item), "sha256": _digest(json.dumps(item))}
        if key in _ROWS and isinstance(item, list)
        else _without_people(item)
        for key, item in value.items()
    }


def _sums(table: pd.DataFrame) -> dict[str, Any]:
    """Return a table's size, and of each column what changes when a value or their order does."""
    columns = {"index": table.index.to_series(), **{str(name): table[name] for name in table.columns}}
    return {"rows": len(table), "columns": {name: _sum(column) for name, column in columns.items()}}


def _sum(column: pd.Series) -> dict[str, Any]:
    missing = int(column.isna().sum())
    if column.dtype.kind == "f":
        values = column.fillna(0.0).to_numpy(dtype=float)
        places = np.sin(np.arange(1, len(values) + 1))
        finite, most = np.where(np.isfinite(values), values, 0.0), max(len(values), 1)
        return {
            "type": str(column.dtype),
            "missing": missing,
            "mean": float(finite.sum() / most),
            "mean_square": float(finite @ finite / most),
            "mean_by_place": float(finite @ places / most),
        }
    texts = column.astype(object).map(lambda cell: cell if isinstance(cell, str) else repr(_plain(cell)))
    return {"type": str(column.dtype), "missing": missing, "sha256": _digest("\n".join(texts))}


def _plain(cell: Any) -> Any:
    """Return a cell without NumPy's types, whose form differs between versions."""
    if isinstance(cell, np.ndarray):
        return [_plain(item) for item in cell.tolist()]
    return cell.item() if isinstance(cell, np.generic) else cell


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
