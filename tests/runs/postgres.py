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


class Postgres:
    """A server in a folder of its own, that can be stopped and started again."""

    def __init__(self) -> None:
        self._where = programs()
        self._folder = Path(tempfile.mkdtemp(prefix="evenhand-pg-"))
        self._user = {"user": _USER} if os.geteuid() == 0 else {}  # the server refuses to run as root
        if self._user:
            os.chown(self._folder, pwd.getpwnam(_USER).pw_uid, -1)
        self._do("initdb", "-U", "evenhand", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
        self.url = f"postgresql://evenhand@/postgres?host={self._folder}"

    def start(self) -> None:
        """Start it; returns when it answers."""
        settings = f"-k {self._folder} -c listen_addresses='' -c fsync=off"
        self._do("pg_ctl", "-w", "-l", str(self._folder / "log"), "-o", settings, "start")

    def stop(self) -> None:
        """Stop it as a crash would."""
        self._do("pg_ctl", "-m", "immediate", "stop")

    def remove(self) -> None:
        """Remove its folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _do(self, program: str, *options: str) -> None:
        subprocess.run(
            [self._where / program, "-D", str(self._folder / "data"), *options],
            cwd=self._folder,
            check=True,
            stdout=subprocess.DEVNULL,  # a pipe would stay open in the server
            stderr=subprocess.DEVNULL,
            **self._user,
        )


@contextmanager
def serve() -> Iterator[str]:
    """Start a server and yield the address of its database; the server and its folder end with the block."""
    server = Postgres()
    try:
        server.start()
        try:
            yield server.url
        finally:
            server.stop()
    finally:
        server.remove()
