"""A package of one module that brings an entry point, as an installed one lies on the import path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def installed(folder: Path, target: str, code: str, *, group: str, name: str, found: Any) -> Iterator[Path]:
    """Write `code` where `target` (module:attribute) is; `found`, which keeps its answer, looks anew."""
    module, _, _ = target.partition(":")
    facts = folder / f"{module}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {module.replace('_', '-')}\nVersion: 1.0\n"
    )
    (facts / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
    (folder / f"{module}.py").write_text(code)
    found.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
    sys.modules.pop(module, None)
    found.cache_clear()
