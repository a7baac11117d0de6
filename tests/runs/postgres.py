"""A PostgreSQL server of the tests' own: Debian's programs, a fresh folder, a socket only."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_USER = "postgres"


def programs() -> Path:
    """Return the folder of initdb and pg_ctl, or skip."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    other = shutil.which("initdb")
    if not found and other is None:
        pytest.skip("PostgreSQL is not installed (make postgresql); tests on a real server did not run")
    return found[-1].parent if found else Path(str(other)).resolve().parent


@contextmanager
def serve() -> Iterator[str]:
    """Start a server and yield the address of its database; the server and its folder end with the block."""
    where = programs()
    folder = Path(tempfile.mkdtemp(prefix="evenhand-pg-"))
    user = {"user": _USER} if os.geteuid() == 0 else {}  # the server refuses to run as root
    if user:
        os.chown(folder, pwd.getpwnam(_USER).pw_uid, -1)
    options = {"cwd": folder, "check": True, "capture_output": True, **user}
    data = str(folder / "data")
    try:
        initdb = [
            where / "initdb",
            "-D",
            data,
            "-U",
            "evenhand",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
            "--locale=C",
        ]
        subprocess.run(initdb, **options)
        settings = f"-k {folder} -c listen_addresses='' -c fsync=off"
        subprocess.run(
            [where / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", settings, "start"],
            **{
                **options,
                "capture_output": False,
                "stdout": subprocess.DEVNULL,
                "stderr": subprocess.DEVNULL,
            },
        )
        try:
            yield f"postgresql://evenhand@/postgres?host={folder}"
        finally:
            subprocess.run([where / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
