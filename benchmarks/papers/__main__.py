"""The five papers' numbers again: ``python -m benchmarks.papers [NAME] [WORD ...]``, without a name a list.

Each is a function of a module here, named in its `RUNS`; the words are its own. docs/papers.md has published
figures and our last ones, and says how many seeds and people these are of.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

_MODULES = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))

if __name__ == "__main__":
    modules = [import_module(f"benchmarks.papers.{name}") for name in _MODULES]
    runs = {name: run for module in modules for name, run in getattr(module, "RUNS", {}).items()}
    if len(sys.argv) > 1:
        runs[sys.argv[1]](*sys.argv[2:])
    else:
        print("\n".join(f"{name:24} {(run.__doc__ or '').splitlines()[0]}" for name, run in runs.items()))
