"""``serve``: a user's own model, in the user's own environment, behind the endpoint contract.

We never open a pickle. The Python that the user names does, in a process of its own, as the user's own
notebook would; the audit asks it over HTTP like any other service.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from audits.errors import InputError, RunFailed

_SCRIPT = Path(__file__).with_name("model_server.py")


def serve(
    file: Annotated[Path, Argument(metavar="MODEL", help="joblib or pickle file, or MLflow folder")],
    python: Annotated[
        str, Option(metavar="PATH", help="the Python with the packages the model needs", show_default=False)
    ] = sys.executable,
    port: Annotated[int, Option(metavar="N", help="port on 127.0.0.1")] = 8000,
    columns: Annotated[
        str | None, Option(metavar="NAME,…", help="its columns in order, if the model does not name them")
    ] = None,
) -> tuple[int, str]:
    """Serve your own model to audits on this machine, with your own Python.

    Opening a joblib or pickle file runs what is in it: serve only files that you trust.
    """
    if not file.exists():
        raise InputError("MODEL", "must name an existing file or folder", str(file))
    if file.suffix.lower() == ".onnx":
        raise InputError("MODEL", "needs no server", str(file), "write model: {path: …} in the spec")
    if file.is_dir() and not (file / "MLmodel").is_file():
        raise InputError("MODEL", "must be a file, or a folder with an MLmodel file", str(file))
    found = shutil.which(python)
    if found is None:
        raise InputError(
            "--python", "must name a Python interpreter", python, "such as ~/model/.venv/bin/python"
        )
    if not 0 <= port <= 65_535:
        raise InputError("--port", "must be from 0 to 65,535", port)
    print(
        f"evenhand: {found} opens {file}, which runs the code in it with your rights. Stop with Ctrl-C.",
        file=sys.stderr,
        flush=True,
    )
    # given as text: the folder of the script must not be where the model's own modules are looked up
    source = _SCRIPT.read_text(encoding="utf-8")
    arguments = [found, "-c", source, str(file), str(port), *([columns] if columns else [])]
    with subprocess.Popen(arguments) as server:
        try:
            status = server.wait()
        except KeyboardInterrupt:
            server.terminate()
            server.wait()
            return 0, "The model no longer answers."
    if status:
        raise RunFailed("The model server ended; its messages are above.")
    return 0, "The model no longer answers."
