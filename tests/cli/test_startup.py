"""What the command line imports for small work: libraries that it does not use must not be waited for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.runs.conftest import make_spec, write_people

ROOT = Path(__file__).resolve().parents[2]

HEAVY = {"torch", "ot", "sklearn", "fairlearn", "plotly", "onnxruntime", "onnx", "streamlit"}
RUN = """
import json, sys
from pathlib import Path
from audits.runs.executors.inline import InlineExecutor
result = InlineExecutor().submit(json.loads(Path("spec.json").read_text()), Path.cwd()).result()
assert result.audits[0].result.table
"""


def loaded_by(code: str, folder: Path) -> set[str]:
    """Run `code` in a fresh Python in `folder`; return the packages that are loaded at its end."""
    write_people(folder / "people.csv")
    (folder / "spec.json").write_text(json.dumps(make_spec({"groups": {}})), encoding="utf-8")
    tell = "\nimport sys\nprint('LOADED', *sorted(name for name in sys.modules if '.' not in name))"
    command = [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{code}{tell}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_small_work_loads_no_large_library(tmp_path: Path):
    loaded = loaded_by(RUN, tmp_path)
    assert not loaded & HEAVY
    assert "audits" in loaded


def test_the_command_alone_loads_not_even_numbers(tmp_path: Path):
    assert not loaded_by("import audits.cli.main", tmp_path) & {*HEAVY, "numpy", "pandas", "scipy"}
