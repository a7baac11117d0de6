"""What several commands take and return, and how all of them are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

SETTINGS: dict[str, Any] = {
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 110},
}

Told = str | tuple[int, str]
"""What is printed, or that with an exit status before it."""

Json = Annotated[bool, Option("--json", help="as JSON")]
Force = Annotated[bool, Option("--force", help="replace a spec of that name")]
Id = Annotated[str, Argument(metavar="ID")]
SpecFile = Annotated[Path, Argument(metavar="SPEC.yaml")]
ResultsFolder = Annotated[Path, Argument(metavar="DIR", help="folder that `run --out` wrote")]
Executor = Annotated[
    Literal["inline", "process", "dask"],
    Option(
        help="where to compute: in this process, a worker process, or on Dask", envvar="EVENHAND_EXECUTOR"
    ),
]
FailOn = Annotated[
    Literal["evidence", "material", "gate"] | None,
    Option(
        help="exit with status 1: on any verdict 'evidence of a difference', corrected for all audits of the "
        "run (evidence); on any material difference (material); or if the spec's gate stops the run (gate)"
    ),
]
Junit = Annotated[Path | None, Option(metavar="FILE", help="write the result of the gate as JUnit XML")]
Summary = Annotated[Path | None, Option(metavar="FILE", help="add the result of the gate to a Markdown file")]
Annotate = Annotated[bool, Option("--annotate", help="print failures as annotations for GitHub Actions")]
