"""What a small run loads: libraries that it does not use must not be waited for."""

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
assert InlineExecutor().submit(json.loads(Path("spec.json").read_text()), Path.cwd()).result().audits
print(*{name.partition(".")[0] for name in sys.modules})
"""


def test_small_work_loads_no_large_library(tmp_path: Path):
    write_people(tmp_path / "people.csv")
    (tmp_path / "spec.json").write_text(json.dumps(make_spec({"groups": {}})), encoding="utf-8")
    command = [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{RUN}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    assert "audits" in done.stdout.split()
    assert not HEAVY & set(done.stdout.split())
