"""What the command line imports for small work: libraries that it does not use must not be waited for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs.conftest import write_people

ROOT = Path(__file__).resolve().parents[2]

HEAVY = {"torch", "ot", "sklearn", "fairlearn", "plotly", "onnxruntime", "onnx", "streamlit"}
SPEC = {
    "data": {
        "path": "people.csv",
        "label": "paid",
        "favorable": 1,
        "protected": ["group"],
        "features": ["skill"],
    },
    "model": {"predictions": {"score": "score"}},
    "audits": [{"groups": {}}],
}
RUN = """
import json, sys
from pathlib import Path
from audits.runs.executors.inline import InlineExecutor
result = InlineExecutor().submit(json.loads(Path("spec.json").read_text()), Path.cwd()).result()
assert result.audits[0].result.table
"""
DESCRIBE = """
import sys
from audits.cli.main import main
assert main(["describe", "people.csv"]) == 0
"""
LIST = """
from audits.runs.registry import AUDITS
from audits.options import options_of
assert all(options_of(audit.options) for audit in AUDITS.values())
"""


def loaded_by(code: str, folder: Path) -> set[str]:
    """Run `code` in a fresh Python in `folder`; return the packages that are loaded at its end."""
    write_people(folder / "people.csv")
    (folder / "spec.json").write_text(json.dumps(SPEC), encoding="utf-8")
    tell = "\nimport sys\nprint('LOADED', *sorted(name for name in sys.modules if '.' not in name))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{code}{tell}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("code", [RUN, LIST], ids=["groups", "records"])
def test_small_work_loads_no_large_library(code: str, tmp_path: Path):
    loaded = loaded_by(code, tmp_path)
    assert not loaded & HEAVY
    assert "audits" in loaded


def test_a_run_with_its_report_loads_no_statistics_that_it_does_not_use(tmp_path: Path):
    """scipy.stats takes about as long as all the rest of a small run."""
    code = """
import sys
from audits.cli.main import main
assert main(["run", "spec.json", "--out", "out", "--executor", "inline", "--no-save"]) == 0
assert "scipy.stats" not in sys.modules
"""
    assert "plotly" in loaded_by(code, tmp_path)  # the report was drawn


def test_the_command_alone_loads_not_even_numbers(tmp_path: Path):
    assert not loaded_by("import audits.cli.main", tmp_path) & {*HEAVY, "numpy", "pandas", "scipy"}


def test_describe_reads_without_statistics(tmp_path: Path):
    """Also where names tell which audits the table allows, and their records and usual options load."""
    nameless = DESCRIBE.replace(
        "from audits",
        """from pathlib import Path
table = Path("people.csv")
table.write_text(table.read_text().replace("group", "team"))
from audits""",
    )
    assert not loaded_by(nameless, tmp_path) & {*HEAVY, "scipy", "sqlalchemy"}


COPIED = """
import json
from pathlib import Path
from audits.runs.executors.pool import ProcessExecutor
from audits.runs.executors.inline import InlineExecutor
{before}
spec = json.loads(Path("spec.json").read_text())
with ProcessExecutor(1, base=Path.cwd() / "home", warm=False) as executor:
    run = executor.submit(spec, Path.cwd())
    found = run.result().audits[0].result
    told = [Path(f"/proc/{{pid}}/cmdline").read_bytes() for pid in executor.pids()]
assert found.to_json() == InlineExecutor().submit(spec, Path.cwd()).result().audits[0].result.to_json()
assert (told == [Path("/proc/self/cmdline").read_bytes()]) is {copied}, told
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
@pytest.mark.parametrize(
    ("before", "copied"), [("", True), ("import sklearn", False)], ids=["small", "threads"]
)
def test_a_single_run_is_computed_by_a_copy_of_the_process_where_a_copy_works(
    before: str, copied: bool, tmp_path: Path
):
    loaded_by(COPIED.format(before=before, copied=copied), tmp_path)


def test_a_copy_keeps_nothing_that_was_open_and_dies_alone(tmp_path: Path):
    code = """
import os, signal
from pathlib import Path
from audits.runs.executors.worker_process import WorkerProcess
secret = open("people.csv")
worker = WorkerProcess(warm=False, forked=True)
assert next(worker.messages()) == {"event": "ready"}
targets = {os.readlink(each) for each in Path(f"/proc/{worker.pid}/fd").iterdir()}
assert not [each for each in targets if each.endswith("people.csv")], targets
assert worker.alive()
os.kill(worker.pid, signal.SIGKILL)
assert list(worker.messages()) == []
worker.close()
assert not worker.alive() and "SIGKILL" in worker.ending()
"""
    loaded_by(code, tmp_path)
