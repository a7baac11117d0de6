"""What `make lowest` installs: the lowest version that pyproject.toml allows of each, and what tests need."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("transport", "onnx", "train", "large", "saved")
TESTS = ("pytest", "hypothesis", "jsonschema", "fairlearn")
"""What tests of the core import beside it, as pinned; fairlearn needs no torch."""


def lowest() -> list[str]:
    """Return a requirement of pip for each package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [
        *project["dependencies"],
        *(item for extra in EXTRAS for item in project["optional-dependencies"][extra]),
    ]
    ranges = [Requirement(item) for item in named]
    lines = "".join(
        (ROOT / name).read_text(encoding="utf-8") for name in ("requirements.txt", "requirements-dev.txt")
    )
    pins = [line.split("#")[0].strip() for line in lines.splitlines()]
    return [
        *(f"{each.name}=={_least(each)}" for each in ranges),
        *(pin for pin in pins if pin.split("==")[0] in TESTS),
    ]


def _least(requirement: Requirement) -> str:
    [version] = [each.version for each in requirement.specifier if each.operator == ">="]
    return version


if __name__ == "__main__":
    print(*lowest())
