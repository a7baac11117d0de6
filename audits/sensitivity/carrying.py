"""What of an audited model without a gradient is kept with the result, for a monitor to carry along."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.errors import InputError
from audits.sensitivity.blackbox import level_counts
from audits.sensitivity.carried import Carried
from audits.sensitivity.carried_onnx import CarriedOnnx
from audits.sensitivity.carried_trees import CarriedTrees

if TYPE_CHECKING:
    from audits.models import Model, Subject
    from audits.models.plain_trees import PlainTrees

__all__ = ["MOST_BYTES", "carry", "restore", "unpack"]

MOST_BYTES = 20_000_000
"""Size of a file, or of a result's trees, up to which it is kept for a monitor."""

_EXACT = 1e-12


def carry(subject: Subject, z: np.ndarray, step: float) -> dict[str, Any]:
    """Return as plain data what a monitor needs to ask the model of `subject`, or why there is no such thing.

    Parameters
    ----------
    z : (n, d)
        Points of the people audited.

    Returns
    -------
    dict
        From `Carried.dump`, its arrays packed as text under ``arrays``; or ``refused``, a sentence.
    """
    model, space = subject.model, subject.space
    counts = level_counts(z, space)
    content = getattr(model, "content", b"")  # only an ONNX model has its file
    if content and model.classes is not None:
        if len(content) > MOST_BYTES:
            return {"refused": f"The {model.name} has more than {MOST_BYTES // 10**6} MB."}
        feeding = model.feeding()  # type: ignore[attr-defined]
        own = CarriedOnnx(subject.favorable_classes, counts, step, [], content, feeding)
        return _packed(own)
    trees = _trees_of(model)
    if trees is None:
        return {"refused": _why_not(subject)}
    favorable = np.ones(1, dtype=bool) if model.classes is None else subject.favorable_classes
    own_trees = CarriedTrees(favorable, counts, step, [], trees)
    apart = np.abs(own_trees.score(subject.data.frame) - subject.scores).max(initial=0.0)
    if not apart <= _EXACT:
        return {"refused": f"The {model.name} rebuilt from plain arrays scores otherwise than itself."}
    packed = _packed(own_trees)
    if len(packed["arrays"]) > MOST_BYTES:
        return {"refused": f"The trees of the {model.name} take more than {MOST_BYTES // 10**6} MB."}
    return packed


def _trees_of(model: Model) -> PlainTrees | None:
    """Return the trees of a forest or boosting of chances that was trained here."""
    pipeline = getattr(model, "pipeline", None)
    if pipeline is None or not hasattr(pipeline[-1], "predict_proba") or hasattr(pipeline[-1], "coef_"):
        return None
    from audits.models.plain_trees import plain_trees

    return plain_trees(pipeline, model.numbers, model.levels)  # type: ignore[attr-defined]


def _why_not(subject: Subject) -> str:
    name = subject.model.name
    if hasattr(subject.model, "number"):
        return f"The {name} predicts a number; a monitor carries along models of a chance only."
    if hasattr(subject.model, "service"):
        return f"The {name} answers from elsewhere; a monitor carries the model itself along."
    return (
        f"The {name} cannot be written down as plain arrays; a monitor carries along networks, logistic "
        "regressions, forests and boosting trained here, and ONNX files."
    )


def _packed(carried: Carried) -> dict[str, Any]:
    from safetensors.numpy import save

    own, arrays = carried.dump()
    weights = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    return {
        **own,
        "favorable": carried.favorable.tolist(),
        "arrays": base64.b64encode(zlib.compress(weights, 6)).decode("ascii"),
    }


def unpack(kept: Mapping[str, Any], encoding: list[dict[str, Any]]) -> Carried:
    """Return what `carry` kept."""
    from safetensors.numpy import load

    if "onnx" in kept:  # as results were kept before trees were
        arrays = {"onnx": np.frombuffer(base64.b64decode(kept["onnx"]), dtype=np.uint8)}
    else:
        arrays = load(zlib.decompress(base64.b64decode(kept["arrays"])))
    return restore(kept, arrays, np.array(kept["favorable"], dtype=bool), encoding)


def restore(
    own: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    favorable: np.ndarray,
    encoding: list[dict[str, Any]],
) -> Carried:
    """Rebuild what `Carried.dump` gave; its space too, so that an encoding that is none is told at once.

    Raises
    ------
    InputError, KeyError, TypeError, ValueError
        If it is damaged.
    """
    kind = CarriedTrees if "trees" in own else CarriedOnnx
    made = kind.restore(own, arrays, favorable, encoding)
    lacking = [name for name in made.columns if name not in made.space.columns]
    if lacking:
        raise InputError("bundle", "must encode every column that its model reads", lacking)
    return made
