"""Tables of cases that are as a user writes them: YAML beside the test, a case a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def cases(test: str, name: str) -> list[tuple[Any, ...]]:
    """Return the cases of the file `name` beside the file `test`, each a tuple of what its line lists."""
    return [tuple(case) for case in yaml.safe_load((Path(test).parent / name).read_text(encoding="utf-8"))]
