"""The networks of a bundle as arrays by name, and as a table of their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from audits.models.networks.dense import BENDS, Dense, Ramps
from audits.sensitivity.measurement.gradients import AuditedModel, Status

_RAMPS = ("columns", "scales", "shifts", "lows", "highs")


def network_arrays(network: Dense, prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays of a network by name: ``F.weight.0``, ``F.bias.0`` …"""
    found = {f"{prefix}.weight.{k}": weight for k, weight in enumerate(network.weights)}
    found |= {f"{prefix}.bias.{k}": bias for k, bias in enumerate(network.biases)}
    if network.bends:
        found[f"{prefix}.bends"] = np.array([float(BENDS.index(each)) for each in network.bends])
    if network.ramps is not None:
        found |= {
            f"{prefix}.ramp.{name}": np.asarray(getattr(network.ramps, name), dtype=float) for name in _RAMPS
        }
    return found


def network_of(arrays: Mapping[str, np.ndarray], prefix: str) -> Dense:
    """Rebuild what `network_arrays` named."""
    layers = sum(name.startswith(f"{prefix}.weight.") for name in arrays)
    ramps = None
    if f"{prefix}.ramp.columns" in arrays:
        parts = {name: arrays[f"{prefix}.ramp.{name}"] for name in _RAMPS}
        ramps = Ramps(**{**parts, "columns": parts["columns"].astype(int)})
    bends = arrays.get(f"{prefix}.bends", np.empty(0))
    return Dense(
        tuple(np.ascontiguousarray(arrays[f"{prefix}.weight.{k}"]) for k in range(layers)),
        tuple(arrays[f"{prefix}.bias.{k}"] for k in range(layers)),
        ramps,
        tuple(BENDS[int(each)] for each in bends),
    )


def parameter_table(audited: AuditedModel | None, statuses: Sequence[Status]) -> pd.DataFrame:
    """Return every number of the networks, one a row: ``array``, ``row``, ``column``, ``value``."""
    arrays: dict[str, np.ndarray] = {}
    if audited is not None:
        arrays |= network_arrays(audited.network, "F")
        if audited.favorable is not None:
            arrays["F.favorable"] = audited.favorable.astype(float)
    for status in statuses:
        arrays |= network_arrays(status.network, f"A:{status.attribute}")
    parts = []
    for name, array in arrays.items():
        table = np.atleast_2d(array)
        row, column = np.indices(table.shape).reshape(2, -1)
        parts.append(
            pd.DataFrame(
                {"array": name, "ndim": array.ndim, "row": row, "column": column, "value": table.ravel()}
            )
        )
    columns = ["array", "ndim", "row", "column", "value"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def tables_of(parameters: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the arrays that `parameter_table` listed."""
    found = {}
    for name, rows in parameters.groupby("array", sort=False):
        shape = (int(rows["row"].max()) + 1, int(rows["column"].max()) + 1)
        array = np.empty(shape)
        array[rows["row"], rows["column"]] = rows["value"]
        found[str(name)] = array if rows["ndim"].iloc[0] == 2 else array[0]
    return found
