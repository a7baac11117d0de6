"""What a process of its own answers that was asked ``data.query``: a file beside the spec.

`audits.runs.source.fetch` asks it through `SandboxPool`, which bounds its memory and time; DuckDB has no
network there, and where folders are named the kernel shows it nothing else.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from audits.data.io.large_table import duckdb_settings
from audits.data.io.tables import Limits
from audits.errors import InputError, first_line, how_to_install, optional

# what a comment has taken stays taken: many of them are looked through once, not in every way to part them
_READS = re.compile(r"(?>\s|--[^\n]*\n|/\*.*?\*/)*+(SELECT|WITH)\b", re.IGNORECASE | re.DOTALL)
_ROWS = 50_000


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Write the answer to a query into an Arrow file.

    Parameters
    ----------
    question : dict
        ``query`` and ``target``; ``base_dir`` of files, and whether it is ``confined`` to folders; for a
        database the ``variable`` with its address, and the ``environment`` that holds it.

    Raises
    ------
    InputError
        If it is not one SELECT, or cannot be answered.
    """
    query, target = question["query"], Path(question["target"])
    if "variable" in question:
        os.environ.update(question["environment"])
        _ask_database(query, question["variable"], target)
    else:
        _ask_files(query, Path(question["base_dir"]), target, confined=question["confined"])
    return {}


def _ask_files(query: str, base_dir: Path, target: Path, *, confined: bool) -> None:
    if confined and _sees(Path("/")):
        raise InputError(
            "data.query", "cannot be confined to folders on this system, so --untrusted does not allow it",
            advice="run it on Linux with Landlock, or name a file in data.path",
        )  # fmt: skip
    import duckdb  # late: a database is asked without it

    settings = {**duckdb_settings(), "file_search_path": str(base_dir)}
    try:
        with duckdb.connect(":memory:", config=settings) as connection:
            statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise InputError("data.query", "must be one SELECT", query)
            batches = connection.sql(query).to_arrow_reader(_ROWS)
            _write(batches.schema, batches, target)
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except duckdb.Error as error:
        raise InputError("data.query", f"cannot be answered: {first_line(error)}", query) from None


def _sees(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except PermissionError:
        return False


def _ask_database(query: str, variable: str, target: Path) -> None:
    import sqlalchemy as sa
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    if not _READS.match(query):
        raise InputError("data.query", "must be one SELECT", query)
    try:
        engine = sa.create_engine(os.environ[variable])
    except (ArgumentError, ImportError) as error:
        package = error.name if isinstance(error, ImportError) else None
        if package:
            rule = f"names a database whose driver {package!r} is not installed here"
            advice = how_to_install(package) if optional(package) else "install it"
        else:
            rule, advice = "names a database that cannot be opened", "write it as SQLAlchemy does"
        raise InputError(variable, rule, advice=advice) from None
    try:
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":
                connection.exec_driver_sql("PRAGMA query_only = ON")
            elif engine.dialect.name in {"postgresql", "mysql", "mariadb", "oracle"}:
                connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            # without parameters a driver takes % as it stands
            connection = connection.execution_options(stream_results=True, no_parameters=True)
            rows = connection.exec_driver_sql(query)
            names, limits = list(rows.keys()), Limits()
            found: list[Any] = []
            for part in rows.partitions(_ROWS):
                found += part
                limits.check("data.query", rows=len(found), columns=len(names))
            connection.rollback()
    except SQLAlchemyError as error:
        # the driver's words alone: the address holds a password
        raise InputError(
            "data.query", f"cannot be answered: {first_line(getattr(error, 'orig', None) or error)}", query
        ) from None
    columns = list(zip(*found, strict=True)) or [()] * len(names)
    arrays = []
    for name, values in zip(names, columns, strict=True):
        try:
            arrays.append(pa.array(values))
        except (pa.ArrowException, OverflowError):
            raise InputError(
                f"data.query, column {name!r}", "mixes types", advice="CAST it to one in the query"
            ) from None
    table = pa.Table.from_arrays(arrays, names=names)
    _write(table.schema, table.to_batches(), target)


def _write(schema: pa.Schema, batches: Any, target: Path) -> None:
    limits, rows = Limits(), 0
    with pa.OSFile(str(target), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in batches:
            rows += batch.num_rows
            limits.check("data.query", rows=rows, columns=len(schema))
            writer.write_batch(batch)
