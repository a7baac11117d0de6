"""The container's files: each step is one that the wheel's tests carry out, or is looked at here."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import yaml

from tests.cli.conftest import parsed

ROOT = Path(__file__).resolve().parents[1]
CONTAINERFILE = (ROOT / "Containerfile").read_text(encoding="utf-8")


def last(instruction: str) -> str:
    return re.findall(rf"^{instruction} (.*)$", CONTAINERFILE, flags=re.MULTILINE)[-1]


def test_it_runs_a_command_that_there_is_as_somebody_else_than_root():
    assert json.loads(last("ENTRYPOINT")) == ["evenhand"]
    chosen = parsed(*json.loads(last("CMD")))
    assert (chosen["address"], str(chosen["port"])) == ("0.0.0.0", last("EXPOSE"))
    assert int(last("USER")) > 0
    assert f"--uid {last('USER')} " in CONTAINERFILE
    settings = dict(pair.split("=") for pair in last("ENV").split())
    assert settings["EVENHAND_HOME"] == last("VOLUME")
    assert f":{last('EXPOSE')}/api/v1/health" in last("HEALTHCHECK .*CMD")


def test_it_has_the_system_library_that_lightgbm_does_not_bring():
    """Found where nothing else was: in a bare Debian every LightGBM model was refused."""
    library = Path(str(find_spec("lightgbm").origin)).parent / "lib" / "lib_lightgbm.so"
    assert b"libgomp.so.1\0" in library.read_bytes()
    installed = re.search(r"^RUN apt-get .*install -y --no-install-recommends ([^&]*)", CONTAINERFILE, re.M)
    assert "libgomp1" in installed[1].split()
    assert CONTAINERFILE.index(installed[0]) < CONTAINERFILE.rindex("\nUSER"), "only root installs"


def test_the_compose_file_writes_only_to_volumes_and_lets_only_this_machine_in():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    pages = services["evenhand"]
    assert pages["read_only"] is True
    assert pages["volumes"] == [f"evenhand:{last('VOLUME')}"]
    assert all(re.fullmatch(rf"127\.0\.0\.1:.*:{last('EXPOSE')}", port) for port in pages["ports"])
    assert pages["environment"]["EVENHAND_AUTH"] == "${EVENHAND_AUTH:-off}"  # who asks for sign-in gets it
    assert pages["environment"]["EVENHAND_PROXIES"].startswith("${EVENHAND_PROXIES:-127.0.0.1")
    assert not re.search(r"password: *\w+$", str(services), flags=re.IGNORECASE)  # none is written down


def test_extras_are_there_and_packages_are_installed_by_hash():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(last("ARG").removeprefix("EXTRAS=").split(",")) <= set(project["optional-dependencies"])
    assert "--require-hashes -r /dist/requirements.lock" in CONTAINERFILE
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    hashed = r"^([\w.-]+)(?:\[.*\])?==([^ ;\\]+)[^\n]*\\\n +--hash=sha256:\w{64}"
    known = {name.lower().replace("_", "-"): version for name, version in re.findall(hashed, locked, re.M)}
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if (found := re.match(r"([\w.-]+)(?:\[.*\])?==(\S+)", line)) and found[1] != "torch":
            assert known[found[1].lower().replace("_", "-")] == found[2], "make lock"
