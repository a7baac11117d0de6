"""Ready `data` sections for well-known public fairness data sets, as their authors publish the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from audits.checks import one_of

__all__ = ["PUBLIC", "public_section"]

_HERE = Path(__file__).parent

PUBLIC = tuple(sorted(path.stem for path in _HERE.glob("*.yaml")))
"""Names of the data sets."""


def public_section(name: str, folder: Path | str) -> dict[str, Any]:
    """Return the `data` section that reads a public data set from its files in `folder`.

    Parameters
    ----------
    name : {"adult", "bank", "communities", "compas", "german", "law_school"}
        Which one.
    folder : path
        Where the files lie, under the names they are published with.

    Raises
    ------
    InputError
        For an unknown name.

    Examples
    --------
    >>> public_section("law_school", "data")["favorable"]
    1
    """
    one_of("data set", name, PUBLIC)
    section = yaml.safe_load((_HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    files = section["path"]
    section["path"] = (
        [str(Path(folder) / file) for file in files] if isinstance(files, list) else str(Path(folder) / files)
    )
    return section
