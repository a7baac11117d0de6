"""Make ``home-VERSION.tar.gz``: an ``EVENHAND_HOME`` as this version leaves it, with runs of every audit.

``python -m tests.unchanged.make_home``, once a version: the file is what later versions must still open, and
is never made again by another. In it are runs that are done, one that failed and one that was cancelled, and
a monitor that has measured people; all people in it are invented.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from audits.monitor.batches import Batch
from audits.monitor.bundle import MonitorBundle
from audits.monitor.monitors import Monitors
from audits.runs.executors.inline import InlineExecutor
from audits.runs.spec import parse_spec
from audits.runs.storage.database import database
from audits.runs.storage.saved import SavedRuns
from audits.runs.version import VERSION
from tests.reports.everything import spec_of, write_project

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "sample_data"
PEOPLE = 200

_HIRING: dict[str, Any] = {
    "path": "hiring.csv",
    "label": "qualified",
    "favorable": 1,
    "protected": ["gender"],
    "features": ["work_years", "hair_length"],
}
_WOMEN = {"source": {"gender": "female"}, "target": {"gender": "male"}, "permutations": 9, "noise_people": 40}

RUNS: dict[str, dict[str, Any]] = {
    "Every audit": spec_of(["Ash", "Birch", "Cedar"], ["women", "men"]),
    "Flipsets of hiring, three maps": {
        "data": _HIRING,
        "model": {"path": "hiring.onnx"},
        "audits": [
            {"flipset": _WOMEN},
            {"flipset": {**_WOMEN, "transport": "entropic", "map": {"epsilon": 0.1}}},
            {"flipset": {**_WOMEN, "transport": "linear", "cost": "l2_squared"}},
        ],
    },
    "Texts": {
        "data": {
            "path": "texts.csv",
            "label": "toxic",
            "favorable": "no",
            "protected": ["town"],
            "features": ["said"],
            "kinds": {"said": "text"},
            "test_size": 0.5,
        },
        "model": {"train": "text"},
        "audits": [{"rule_sets": {"text": "said", "support": 0.1, "samples": 20, "permutations": 99}}],
    },
}
FAILS: dict[str, Any] = {
    "data": {**_HIRING, "label": "no such column"},
    "model": {"train": "logistic"},
    "audits": [{"groups": {}}],
}
"""Right as a spec, wrong for these data."""


def main() -> None:
    packed = HERE / f"home-{VERSION}.tar.gz"
    if packed.exists():
        raise SystemExit(f"{packed.name} exists already, and must stay what version {VERSION} wrote.")
    with tempfile.TemporaryDirectory() as folder:
        samples, home = Path(folder, "samples"), Path(folder, "home")
        samples.mkdir()
        pd.read_csv(HERE.parent / "golden" / "people.csv").head(PEOPLE).to_csv(
            samples / "texts.csv", index=False
        )
        write_project(samples, nasty=False)
        hiring = pd.read_csv(SAMPLES / "hiring.csv").groupby("gender").head(PEOPLE // 2)
        hiring.to_csv(samples / "hiring.csv", index=False)
        shutil.copy(SAMPLES / "hiring.onnx", samples)
        expected = _fill(SavedRuns(home), samples) | {"monitor": _watch(home)}
        (home / "expected.json").write_text(
            json.dumps(expected, indent=1, ensure_ascii=False) + "\n", "utf-8"
        )
        database(home).engine.dispose()
        _make_anonymous(home / "evenhand.sqlite")
        _pack(home, packed)
    print(f"{packed.name}: {packed.stat().st_size:,} bytes")


def _fill(saved: SavedRuns, samples: Path) -> dict[str, Any]:
    """Save all runs; return what was known of them when they were."""
    runs = []
    for title, document in RUNS.items():
        identity = saved.begin(parse_spec(document, samples).to_dict(), samples, title=title)
        result = InlineExecutor().submit(document, samples).result()
        assert saved.finish(identity, result)
        listed = saved.get(identity)
        told = {"title": title, "verdict": listed.verdict, "finding": listed.finding}
        runs.append({"id": identity, **told, "results": result.to_json()})
    saved.annotate(runs[0]["id"], "Looked at together with the owner of the data.")
    failed = saved.begin(parse_spec(FAILS, samples).to_dict(), samples, title="A wrong label")
    saved.follow(failed, InlineExecutor().submit(FAILS, samples))
    cancelled = saved.begin(parse_spec(RUNS["Texts"], samples).to_dict(), samples, title="Thought better of")
    saved.end(cancelled, "cancelled")
    return {
        "runs": runs,
        "failed": {"id": failed, "error": saved.get(failed).error},
        "cancelled": {"id": cancelled},
    }


def _watch(home: Path) -> dict[str, Any]:
    """Make a monitor of the saved sensitivity audit, and have it measure some people."""
    saved, monitors = SavedRuns(home), Monitors(database(home))
    [run] = saved.list(audit="sensitivity", status="done")
    [audit] = [each for each in saved.load(run.id).audits if each.name == "sensitivity"]
    bundle = MonitorBundle.of(audit.result)
    monitor, _ = monitors.create(bundle, name="Sensitivity of pay", people_between=500)
    rows = [{"skill": 0.5 * place, "hours": 20 + place, "debt": -place} for place in range(3)]
    scored = bundle.score(rows)
    monitors.store([Batch(monitor.id, scored, "0" * 64, "first", ("a", "b", "c"))])
    return {"id": monitor.id, "rows": rows, "sensitivity": scored.sensitivity.tolist()}


def _make_anonymous(path: Path) -> None:
    """Take out where and by which process the runs were made: nothing of a result hangs on it."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE saved_runs SET base_dir = '/home/auditor/samples', process = 'desk 1 1'")
    connection.execute("VACUUM")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def _pack(home: Path, packed: Path) -> None:
    with (
        packed.open("wb") as file,
        gzip.GzipFile("", "wb", 9, file, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(path for path in home.rglob("*") if path.is_file()):
            content = path.read_bytes()
            facts = tarfile.TarInfo(path.relative_to(home).as_posix())
            facts.size, facts.mode = len(content), 0o600
            archive.addfile(facts, io.BytesIO(content))


if __name__ == "__main__":
    os.environ.pop("EVENHAND_DATABASE_URL", None)
    main()
