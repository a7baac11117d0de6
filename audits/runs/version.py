"""What made a number: this package, its source and the libraries that computed."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from pathlib import Path

VERSION = "1.0.0"

_PACKAGE = Path(__file__).resolve().parents[1]
_LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "POT", "torch", "onnxruntime")


@functools.cache
def stamp() -> dict[str, str]:
    """Return the versions on which a run's numbers depend; part of a run's key.

    The digest of the source is among them: a saved run is never shown for code that has changed since,
    even between releases.
    """
    source = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        content = path.read_bytes()
        source.update(f"{path.relative_to(_PACKAGE).as_posix()}\n{len(content)}\n".encode())
        source.update(content)
    versions = {"evenhand": VERSION, "source": source.hexdigest()}
    for library in _LIBRARIES:
        try:
            versions[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            versions[library] = "absent"
    return versions
