"""``data NAME``: a spec for a public set from local files, refused clearly where they are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from audits.data.public import PUBLIC, public_section
from tests.cli.test_bad_input import refused
from tests.runs.conftest import read_spec


@pytest.mark.parametrize("name", PUBLIC)
def test_a_spec_is_written_where_the_files_are_and_refused_where_not(cli, tmp_path: Path, name: str):
    out = tmp_path / "spec.yaml"
    lacking = cli("data", name, "--from", tmp_path, "--out", out)
    refused(lacking, "--from")
    path = public_section(name, "")["path"]
    for each in path if isinstance(path, list) else [path]:
        (tmp_path / each).write_text("x\n", encoding="utf-8")
        assert each in lacking.err
    assert cli("data", name, "--from", tmp_path, "--out", out).status == 0
    assert read_spec(out).data.protected
    refused(cli("data", name, "--from", tmp_path, "--out", out), "--out")
