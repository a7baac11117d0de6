"""What an ONNX file may hold, and what it says about its classes, read before anything is run.

A model file comes from a stranger. It is parsed as plain data; external data (which would read other
files), operators outside the two standard domains (which need native libraries) and files over the
size limit are refused here, before onnxruntime sees a byte.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
from google.protobuf.message import DecodeError, Message
from onnx import numpy_helper
from onnx.helper import tensor_dtype_to_np_dtype as numpy_dtype

from audits.checks import choices
from audits.errors import InputError
from audits.models.formats import check_size
from audits.models.onnx.limits import check_parts, is_external, messages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PASS_THROUGH = {"Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Normalizer", "ZipMap"}
_PASS_PARTS = {*_PASS_THROUGH, "Slice"}  # one output a class, each cut out of all
_CLASS_ATTRIBUTES = ("classlabels_strings", "classlabels_ints", "classlabels_int64s")
_DEEPEST_TRACE = 100
_MAX_NAME = 200
_MISSING_AWARE = {"Imputer", "IsNaN"}


def read_onnx(path: Path, name: str) -> tuple[bytes, onnx.ModelProto]:
    """Return a file's bytes and the parsed model, with the weights that lie in files beside it taken in.

    The files together are within the limit for one uploaded file; only a plain name in the folder of `path`
    is opened, and no link is followed.

    Raises
    ------
    InputError
        If it is too large, is refused (see `parse_onnx`), or names weights that are not beside it.
    """
    check_size(path.stat().st_size, name)
    content = path.read_bytes()
    try:
        model = onnx.ModelProto.FromString(content)
    except DecodeError:
        model = onnx.ModelProto()
    if not model.graph.output:
        return content, parse_onnx(content, name)
    outside = [tensor for tensor in model.graph.initializer if is_external(tensor)]
    if outside:
        files: dict[str, bytes] = {}
        size = len(content)
        for tensor in outside:
            about = {entry.key: entry.value for entry in tensor.external_data}
            location = about.get("location", "")
            if location not in files:
                size += _beside(path, location, name)
                check_size(size, name)
                files[location] = (path.parent / location).read_bytes()
            _take_in(tensor, files[location], about, name)
        content = model.SerializeToString(deterministic=True)
    return content, parse_onnx(content, name)


def _beside(path: Path, location: str, name: str) -> int:
    """Return the size of a file of weights that lies beside a model."""
    beside = path.parent / location
    plain = location and location == Path(location).name and location not in {".", ".."}
    if not plain or beside.is_symlink() or not beside.is_file():
        raise InputError(
            name,
            "has its weights in a separate file that is not beside it",
            location[:_MAX_NAME],
            "put it (upload it) beside the model, or save both as one with onnx.save(onnx.load(path), path)",
        )
    return beside.stat().st_size


def _take_in(tensor: onnx.TensorProto, data: bytes, about: Mapping[str, str], name: str) -> None:
    """Put the bytes of an external tensor into the tensor itself."""
    try:
        start = int(about.get("offset", "0"))
        length = int(about.get("length", str(len(data) - start)))
        wanted = math.prod(tensor.dims) * numpy_dtype(tensor.data_type).itemsize
    except (ValueError, KeyError, TypeError):
        start, length, wanted = -1, 0, 0
    if start < 0 or length != wanted or start + length > len(data):
        raise InputError(
            name,
            f"has a tensor {tensor.name[:_MAX_NAME]!r} whose bytes are not in the file beside it",
            advice="save model and weights again, together",
        )
    del tensor.external_data[:]
    tensor.data_location = onnx.TensorProto.DEFAULT
    tensor.raw_data = data[start : start + length]


def parse_onnx(content: bytes, name: str) -> onnx.ModelProto:
    """Return the parsed model in `content`.

    Parameters
    ----------
    content : bytes
        The file.
    name : str
        The file's name, for messages.

    Raises
    ------
    InputError
        If it is no ONNX model, cut short, refers to external data, or uses operators
        outside ``ai.onnx`` and ``ai.onnx.ml`` that it does not define itself out of those.
    """
    try:
        model = onnx.ModelProto.FromString(content)
    except DecodeError:
        model = onnx.ModelProto()
    if not (model.graph.output and model.opset_import):
        raise InputError(
            name, "is not a complete ONNX model", advice="it is damaged, cut short or in another format"
        )
    check_parts(model, name)
    return model


def takes_gaps(model: onnx.ModelProto) -> bool:
    """Return whether anything in the graph was made for missing numbers.

    A step that fills or asks for them, or trees that learned where they go; without it a comparison with
    NaN is false, and a tree sends the person one way whatever it learned.
    """
    for part, _ in messages(model):
        if part.DESCRIPTOR.name == "NodeProto" and part.op_type in _MISSING_AWARE:
            return True
        learned = part.DESCRIPTOR.name == "AttributeProto" and part.name.endswith("missing_value_tracks_true")
        if learned and (any(part.ints) or (part.HasField("t") and numpy_helper.to_array(part.t).any())):
            return True
    return False


def class_labels(
    model: onnx.ModelProto, scores: Sequence[str], labels: str | None
) -> tuple[object, ...] | None:
    """Return the class labels that the graph itself states, or None.

    Walks back from the output with probabilities, through steps that keep the order of classes, to
    a ZipMap or a classifier; failing that from the output with labels to a classifier, a
    LabelEncoder from 0, 1, … or the constant list that a predicted index picks from.

    Parameters
    ----------
    model : ModelProto
        The parsed file.
    scores : sequence of str
        Names of the outputs with probabilities: none, one, or one a class.
    labels : str or None
        Name of the output with labels.
    """
    made_by = {output: node for node in model.graph.node for output in node.output}
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    passing = _PASS_THROUGH if len(scores) < 2 else _PASS_PARTS
    for name, of_labels in ((scores[0] if scores else None, False), (labels, True)):
        node = made_by.get(name or "")
        for _ in range(_DEEPEST_TRACE):
            if node is None:
                break
            found = _classifier_labels(node) or (_picked_labels(node, constants) if of_labels else None)
            if found:
                return found
            follow = node.input and node.op_type in passing
            node = made_by.get(node.input[0]) if follow else None
    return None


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    """Return the attributes of a step by name."""
    return {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}


def _classifier_labels(node: onnx.NodeProto) -> tuple[object, ...] | None:
    """Return the labels that a ZipMap or a classifier lists."""
    attributes = attributes_of(node)
    return next((_plain(attributes[key]) for key in _CLASS_ATTRIBUTES if attributes.get(key)), None)


def _picked_labels(node: onnx.NodeProto, constants: dict[str, onnx.TensorProto]) -> tuple[object, ...] | None:
    """Return the labels that a predicted position is turned into."""
    if node.op_type in {"ArrayFeatureExtractor", "Gather"} and node.input[0] in constants:
        return _plain(numpy_helper.to_array(constants[node.input[0]]).ravel().tolist())
    if node.op_type == "LabelEncoder":
        attributes = attributes_of(node)
        keys = _attribute_list(attributes, "keys_int64s", "keys_tensor")
        values = _attribute_list(attributes, "values_strings", "values_int64s", "values_tensor")
        if keys and len(values) == len(keys) and sorted(keys) == list(range(len(keys))):
            return _plain([values[keys.index(code)] for code in range(len(keys))])
    return None


def _attribute_list(attributes: dict[str, Any], *names: str) -> list[Any]:
    """Return the first of the attributes `names` that is there, as a list."""
    for name in names:
        if name in attributes:
            found = attributes[name]
            return (
                numpy_helper.to_array(found).ravel().tolist() if isinstance(found, Message) else list(found)
            )
    return []


def _plain(values: Sequence[Any]) -> tuple[object, ...]:
    return tuple(value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values)


def matrix_columns(model: onnx.ModelProto, name: str) -> tuple[str, ...] | None:
    """Return the columns that the file's metadata entry ``columns`` (a JSON list) names, or None."""
    entries = {entry.key: entry.value for entry in model.metadata_props}
    if "columns" not in entries:
        return None
    try:
        columns = json.loads(entries["columns"])
    except ValueError:
        columns = None
    if not isinstance(columns, list) or not columns or not all(isinstance(column, str) for column in columns):
        raise InputError(
            f"{name}, metadata columns", "must be a JSON list of column names", entries["columns"]
        )
    if len(set(columns)) < len(columns):
        twice = sorted({column for column in columns if columns.count(column) > 1})
        raise InputError(
            f"{name}, metadata columns", f"must name each column once, but repeats {choices(twice)}"
        )
    return tuple(columns)
