"""Processor time before the first number: ``python -m benchmarks.startup``.

One `groups` audit over a predictions column, from the command line, in this process and in a worker of its
own, as a ratio to importing pandas, scipy.stats and plotly; and `describe`. Processor time (user and system,
children included) is that of the fastest of some tries: a busy machine only adds to it.
"""

import os
import tempfile
from pathlib import Path

from audits.runs.documents import dump_yaml
from benchmarks.measuring import command
from benchmarks.serving import ROOT
from tests.runs.conftest import write_people

_DATA = {"path": "people.csv", "label": "paid", "favorable": 1, "protected": ["group"], "features": ["skill"]}
_SPEC = {"data": _DATA, "model": {"predictions": {"score": "score"}}, "audits": ["groups"]}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVENHAND_HOME"] = f"{folder}/home"
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or our modules would be compiled in each try
        write_people(Path(folder, "people.csv"))
        Path(folder, "spec.yaml").write_text(dump_yaml(_SPEC), encoding="utf-8")
        run = f"-m audits run {folder}/spec.yaml --out {folder}/out"
        imports = 0.0
        for given in ("-c", run, f"{run} --executor inline", f"-m audits describe {folder}/people.csv"):
            words = given.split() if given != "-c" else [given, "import pandas, scipy.stats, plotly"]
            found = min(command(*words, cwd=ROOT).processor for _ in range(5))
            imports = imports or found
            print(f"{' '.join(words):100} {found:5.2f} s   {found / imports:4.1f} ×", flush=True)
