"""Processor time before the first number: ``python -m benchmarks.startup``.

One `groups` audit over a predictions column, from the command line, in this process and in a worker of its
own, as a ratio to importing pandas, scipy.stats and plotly; and `describe`. Processor time (user and system,
children included) is that of the fastest of some tries: a busy machine only adds to it.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from benchmarks.measuring import command
from benchmarks.serving import ROOT
from tests.runs.conftest import write_people

TRIES = 5
SPEC = """
data: {path: people.csv, label: paid, favorable: 1, protected: [group], features: [skill]}
model: {predictions: {score: score}}
audits: [{groups: {}}]
"""


def main() -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        os.environ["EVENHAND_HOME"] = str(folder / "home")
        write_people(folder / "people.csv")
        (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
        run = ("-m", "audits", "run", str(folder / "spec.yaml"), "--out", str(folder / "out"))
        works = {
            "import pandas, scipy.stats, plotly": ("-c", "import pandas, scipy.stats, plotly"),
            "run, in a worker process": run,
            "run --executor inline": (*run, "--executor", "inline"),
            "describe": ("-m", "audits", "describe", str(folder / "people.csv")),
        }
        imports = 0.0
        for name, given in works.items():
            found = min(command(*given, cwd=ROOT).processor for _ in range(TRIES))
            imports = imports or found
            print(f"{name:36} {found:5.2f} s   {found / imports:4.1f} ×", flush=True)


if __name__ == "__main__":
    main()
