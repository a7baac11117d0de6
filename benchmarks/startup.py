"""Processor time before the first number: ``python -m benchmarks.startup``.

One `groups` audit over a predictions column, from the command line, in this process and in a worker of its
own, as a ratio to importing pandas, scipy.stats and plotly; and `describe`. Processor time (user and system,
children included) is that of the fastest of some tries: a busy machine only adds to it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.runs.conftest import write_people

ROOT = Path(__file__).resolve().parents[1]
TRIES = 5
SPEC = """
data: {path: people.csv, label: paid, favorable: 1, protected: [group], features: [skill]}
model: {predictions: {score: score}}
audits: [{groups: {}}]
"""


def seconds(*arguments: str, tries: int = TRIES) -> float:
    """Least processor time of a Python process and its children."""
    return min(_once(arguments) for _ in range(tries))


def _once(arguments: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def main() -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        os.environ["EVENHAND_HOME"] = str(folder / "home")
        write_people(folder / "people.csv")
        (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
        run = ("-m", "audits", "run", str(folder / "spec.yaml"), "--out", str(folder / "out"))
        imports = seconds("-c", "import pandas, scipy.stats, plotly")
        found = {
            "run, in a worker process": seconds(*run),
            "run --executor inline": seconds(*run, "--executor", "inline"),
            "run --executor inline --no-save": seconds(*run, "--executor", "inline", "--no-save"),
            "describe": seconds("-m", "audits", "describe", str(folder / "people.csv")),
            "--help": seconds("-m", "audits", "--help"),
        }
    print(f"{'import pandas, scipy.stats, plotly':36} {imports:5.2f} s")
    for name, taken in found.items():
        print(f"{name:36} {taken:5.2f} s   {taken / imports:4.1f} ×")


if __name__ == "__main__":
    main()
