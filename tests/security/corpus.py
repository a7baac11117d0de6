"""Files that want more than they show, made when they are needed: none of them is kept."""

from __future__ import annotations

import gzip
import io
import pickle
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx.parser
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from onnx import TensorProto, helper

_MB = 1_000_000


def _workbook(change: Callable[[str, bytes], bytes]) -> bytes:
    """Return a workbook of two rows with its parts changed."""
    plain, changed = io.BytesIO(), io.BytesIO()
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, 2]):
        book.active.append(row)
    book.save(plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return changed.getvalue()


def _sheet(change: Callable[[bytes], bytes]) -> bytes:
    """Return a workbook of two rows with its sheet changed."""
    return _workbook(lambda name, part: change(part) if "sheet1" in name else part)


def _backwards() -> bytes:
    """Return a workbook of 60,000 rows, the last one first: who reads in order leaves most of them out."""
    rows = b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (row, row) for row in range(60_000, 2, -1))
    return _sheet(lambda part: part.replace(b"</sheetData>", rows + b"</sheetData>"))


def _entities() -> bytes:
    """Return a workbook whose sheet defines a billion laughs."""
    levels = b"".join(
        b'<!ENTITY l%d "%s">' % (k + 1, b"".join(b"&l%d;" % k for _ in range(10))) for k in range(9)
    )
    head = b'<!DOCTYPE x [<!ENTITY l0 "ha">' + levels + b"]>"
    return _sheet(lambda part: part.replace(b"<worksheet", head + b"<worksheet", 1))


def _far_cells() -> bytes:
    """Return a workbook with a cell in the last column there is."""
    far = b'<row r="3"><c r="XFD3"><v>1</v></c></row></sheetData>'
    return _sheet(lambda part: part.replace(b"</sheetData>", far))


def _repeated_text(rows: int, letters: int) -> pa.Table:
    codes = pa.array(np.zeros(rows, dtype=np.int32))
    return pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array(["x" * letters]))})


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _arrow(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _wrong_levels() -> bytes:
    """Return a Parquet file whose statistics count levels that its schema lacks: pyarrow alone aborts."""
    made = _parquet(pa.table({"a": [1, 2, 3] * 5}))
    assert made.count(b"\x25\x02\x18\x01a") == 1
    return made.replace(b"\x25\x02\x18\x01a", b"\x25\x00\x18\x01a")  # optional, then required


def _gz(block: bytes, times: int) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        for _ in range(times):
            file.write(block)
    return packed.getvalue()


def _climbing() -> bytes:
    """Return a workbook with a part whose name leads out of any folder that it is laid out in."""
    packed = io.BytesIO(_workbook(lambda _, part: part))
    with zipfile.ZipFile(packed, "a") as book:
        book.writestr("../../../../tmp/evenhand-was-here", "x")
    return packed.getvalue()


def _truncated() -> bytes:
    """Return a workbook that says of each part that less of it is packed than there is: it ends too soon."""
    made = bytearray(_workbook(lambda _, part: part))
    for found in re.finditer(b"PK\x01\x02", bytes(made)):
        made[found.start() + 20 : found.start() + 24] = (5).to_bytes(4, "little")
    return bytes(made)


def _durations() -> bytes:
    """Return a Parquet file of durations that only fit into their own unit."""
    return _parquet(pa.table({"a": pa.array([2**62] * 60, pa.duration("s")), "b": [1, 2] * 30}))


def _no_offsets() -> bytes:
    """Return an Arrow stream of texts that lie outside of what it brings."""
    offsets = pa.py_buffer(np.array([0, 2**30, 5, 3], dtype="i4").tobytes())
    return _arrow(pa.table({"a": pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"abc"))}))


def _runs() -> bytes:
    """Return an Arrow stream of 400 bytes that stand for two thousand million rows."""
    return _arrow(pa.table({"a": pa.RunEndEncodedArray.from_arrays(pa.array([2**31 - 2], pa.int32()), [1])}))


def _batches() -> bytes:
    """Return an Arrow stream of more batches than rows."""
    sink, batch = io.BytesIO(), pa.record_batch({"a": pa.array([], pa.int8())})
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        for _ in range(50_001):
            writer.write_batch(batch)
    return sink.getvalue()


def _unpacked_length() -> bytes:
    """Return an Arrow stream of 350 bytes that says it unpacks to four thousand million gigabytes."""
    made, size = _arrow(pa.table({"a": np.zeros(100_000)})), (800_000).to_bytes(8, "little")
    assert made.count(size) == 1
    return made.replace(size, (2**62).to_bytes(8, "little"))


class _Harm:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, ("__import__('os').system('touch /tmp/evenhand-was-here')",)


# name: what makes it, and the names and numbers that its refusal tells; None where it may be read as letters
TABLES: dict[str, tuple[Callable[[], bytes], tuple[str, ...] | None]] = {
    "row.xlsx": (
        lambda: _sheet(lambda part: part.replace(b'<row r="2"', b'<row r="99999999999"')),
        ("99999999999", "1,048,576"),
    ),
    "backwards.xlsx": (_backwards, ("59,999", "60,000")),
    "attribute.xlsx": (
        lambda: _sheet(
            lambda part: part.replace(b"<worksheet ", b'<worksheet z="' + b"q" * 20 * _MB + b'" ', 1)
        ),
        ("10 MB",),
    ),
    "laughs.xlsx": (_entities, ("XML",)),
    "far.xlsx": (_far_cells, ("16,384", "2,000")),
    "climbing.xlsx": (_climbing, None),
    "truncated.xlsx": (_truncated, ("XLSX",)),
    "cell.parquet": (lambda: _parquet(pa.table({"a": ["x" * 12 * _MB, "b"]})), ("10 MB",)),
    "texts.parquet": (lambda: _parquet(_repeated_text(5_000_000, 2000)), ("10,000 MB", "2,000 MB")),
    "below.parquet": (lambda: _parquet(_repeated_text(5_000_000, 380)), ()),
    "levels.parquet": (_wrong_levels, ("Parquet",)),
    "durations.parquet": (_durations, None),
    "offsets.arrow": (_no_offsets, ("Arrow",)),
    "runs.arrow": (_runs, ("5,000,000",)),
    "batches.arrow": (_batches, ("50,000",)),
    "unpacked.arrow": (_unpacked_length, ()),
    "ends.csv.gz": (lambda: _gz(b"\n" * _MB, 60), ("50,000,000",)),
    "zeros.csv.gz": (lambda: _gz(b"\0" * _MB, 20), ("10 MB",)),
    "one-field.csv.gz": (lambda: _gz(b"a\n" + b"x" * _MB, 450), ()),
    "deep.jsonl": (lambda: b'{"a":' + b"[" * 2_000_000 + b"]" * 2_000_000 + b"}", ("line 1",)),
    "digits.jsonl": (lambda: b'{"a":' + b"9" * 2_000_000 + b"}", ("line 1",)),
    "many.jsonl": (lambda: b'{"a":{}}\n' * 6_000_000, ("6,000,000", "5,000,000")),
    "twice.jsonl": (lambda: b'{"a":1,"a":2}\n' * 40, ("line 1",)),
    "half.jsonl": (lambda: b'{"a":"\\ud800","b":1}\n' * 40, ("\\ud800",)),
    "many-keys.jsonl": (
        lambda: b"".join(b'{"k%d":1}\n' % number for number in range(30_000)),
        ("30,000", "2,000"),
    ),
    "code.csv": (lambda: pickle.dumps(_Harm()), None),
    "names.csv": (lambda: b"," * 3_000_000 + b"\n1\n", ("3,000,001", "2,000")),
}


def _graph(steps: str, constants: str = "", more: str = "", functions: str = "") -> bytes:
    """Return a graph from x to y given in ONNX's text form; `more` are further opsets."""
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17{more}]> '
        f"g (float[n,2] x) => (float[] y) <{constants}> {{ {steps} }} {functions}"
    ).SerializeToString()


def _loop(trips: int) -> bytes:
    """Return a graph that goes round, how often is known only when it runs."""
    body = "b (int64 i, bool c, float[] v) => (bool d, float[] w) { d = Identity(c) w = Identity(v) }"
    return _graph(
        f"s = Shape(x) p = ReduceProd<keepdims = 0>(s) m = Max(p, n) y = Loop<body = {body}>(m, on, x)",
        f"bool on = {{1}}, int64 n = {{{trips}}}",
    )


def _filled(values: int, *, hidden: bool = False) -> bytes:
    before, size = ("s = Shape(x) m = Max(s, n)", "m") if hidden else ("", "n")
    fill = f"c = ConstantOfShape<value = float[1] {{0.5}}>({size}) k = ReduceMean<keepdims = 0>(c)"
    return _graph(f"{before} {fill} y = Mul(x, k)", f"int64[1] n = {{{values}}}")


def _many_nodes() -> bytes:
    """Return a graph of 60,000 nodes, put together from bytes: to make them one by one takes long."""
    node = helper.make_node("Identity", ["x"], ["y"]).SerializeToString()
    empty = onnx.load_from_string(_graph(""))
    graph = empty.graph.SerializeToString()
    whole = (b"\x0a" + _varint(len(node)) + node) * 60_000 + graph
    empty.ClearField("graph")
    return empty.SerializeToString() + b"\x3a" + _varint(len(whole)) + whole


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


def _claimed() -> bytes:
    """Return a graph with a tensor that says it has 2^62 values and brings none."""
    made = onnx.load_from_string(_graph("y = Add(x, w)"))
    made.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[2**31, 2**31])
    return made.SerializeToString()


# its root is its own child
_TREE = """l, y = ai.onnx.ml.TreeEnsembleClassifier<
    nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0],
    nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values = [0.0, 0.0, 0.0],
    nodes_truenodeids = [0, 0, 0], nodes_falsenodeids = [2, 0, 0], class_treeids = [0, 0],
    class_nodeids = [1, 2], class_ids = [0, 0], class_weights = [0.2, 0.8], classlabels_int64s = [0, 1],
    post_transform = "NONE">(x)"""


def _functions(levels: int) -> bytes:
    """Return a graph of one node whose function calls another twice, and so on; of 0 levels: itself."""
    functions = ""
    for level in range(max(1, levels)):
        name = f"local.f{level - 1}" if level else "Identity" if levels else "local.f0"
        functions += f' <domain: "local", opset_import: ["": 17, "local": 1]> f{level} (x) => (y) '
        functions += f"{{ m = {name}(x) y = {name}(m) }}"
    return _graph(f"y = local.f{max(0, levels - 1)}(x)", more=', "local": 1', functions=functions)


# name: what makes it, and the names and numbers that its refusal tells
MODELS: dict[str, tuple[Callable[[], bytes], tuple[str, ...]]] = {
    "around.onnx": (lambda: _graph("a = Add(x, b) b = Add(x, a) y = Identity(b)"), ("acyclic",)),
    "claimed.onnx": (_claimed, ("50,000,000", "4,611,686,018,427,387,904")),
    "tree-around.onnx": (lambda: _graph(_TREE, more=', "ai.onnx.ml": 3'), ("onnxruntime",)),
    "foreign.onnx": (
        lambda: _graph("y = com.evil.Shell(x)", more=', "com.evil": 1'),
        ("'Shell'", "'com.evil'"),
    ),
    "loop.onnx": (lambda: _loop(2**61), ("2 seconds", "EVENHAND_SCORE_SECONDS")),
    "filled.onnx": (lambda: _filled(1_200_000_000), ("memory",)),
    "hidden-filled.onnx": (lambda: _filled(30_000, hidden=True), ("memory",)),
    "many.onnx": (_many_nodes, ("50,000", "60,000")),
    "functions.onnx": (lambda: _functions(40), ("50,000", "65,536")),
    "calls-itself.onnx": (lambda: _functions(0), ("'f0'",)),
    "longer.cbm": (lambda: b"CBM1" + b"\xff\xff\xff\x7f" + b"x" * 100, ("catboost",)),
    "pickle.onnx": (lambda: pickle.dumps(_Harm()), ("pickle",)),
}


def write(folder: Path, name: str, make: Callable[[], bytes]) -> Path:
    """Write one of them into `folder`."""
    path = folder / name
    path.write_bytes(make())
    return path
