"""Write the example sets to a folder, and the README that explains them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from audits.checks import one_of
from audits.data.samples.catalogue import CATALOGUE
from audits.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from audits.data.samples.sample import ExampleSet

__all__ = ["readme", "write_samples"]

_README = "README.md"
_INTRODUCTION = """\
# Example data

Invented people, made by `audits.data.samples`; every file here comes out again, byte for byte, with

    python -m audits sample-data all --out FOLDER

Each set has a spec that audits it: `python -m audits run NAME.yaml`. What is known to be true of a set is
written below, so that you can hold an audit against it.
"""


def write_samples(names: str | Iterable[str], out: Path, *, overwrite: bool = False) -> tuple[Path, ...]:
    """Write example sets: specs, data, models, and one README about all sets.

    Parameters
    ----------
    names : str or iterable of str
        Names in `CATALOGUE`, or ``"all"``.
    out : Path
        Folder to write to; made if it is not there.
    overwrite : bool
        Replace files of the same name whose content differs. Without it they are an error, and nothing at
        all is written.

    Returns
    -------
    tuple of Path
        The files that are now there, README last.

    Raises
    ------
    InputError
        For an unknown name, no name, a folder that cannot be written, or a file that would be replaced.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        one_of("name", name, ["all", *CATALOGUE], what="a bundled example set or 'all'")
    if not wanted:
        raise InputError(
            "name", "must name at least one example set", advice=f"choose {', '.join(CATALOGUE)} or all"
        )
    chosen = [sample for sample in CATALOGUE.values() if "all" in wanted or sample.name in wanted]
    contents = {name: content for sample in chosen for name, content in sample.contents().items()}
    contents[_README] = readme().encode()
    out = Path(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not overwrite:
            _keep_others(out, contents)
        for name, content in contents.items():
            (out / name).write_bytes(content)
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise InputError("out", f"must be a folder that can be written ({reason})", str(out)) from None
    return tuple(out / name for name in contents)


def readme() -> str:
    """Return the README of the example data, as Markdown."""
    return "\n".join([_INTRODUCTION, *(_section(sample) for sample in CATALOGUE.values())])


def _section(sample: ExampleSet) -> str:
    lines = [
        f"## {sample.title}",
        "",
        sample.sentence,
        "",
        f"* **Files:** {', '.join(f'`{name}`' for name in sample.files)}",
        f"* **Made:** {sample.made}",
        f"* **Model:** {sample.model}",
        f"* **Known truth:** {sample.known_truth}",
        f"* **Source:** {sample.source}",
        "",
    ]
    for name, columns in sample.columns.items():
        lines += [f"| column of `{name}` | meaning |", "|---|---|"]
        lines += [f"| {column} | {meaning} |" for column, meaning in columns.items()]
        lines.append("")
    return "\n".join(lines)


def _keep_others(out: Path, contents: dict[str, bytes]) -> None:
    for name, content in contents.items():
        path = out / name
        if path.exists() and (not path.is_file() or path.read_bytes() != content):
            raise InputError(
                "out",
                f"already holds another {name}, which would be replaced",
                str(out),
                "choose another folder, or move that file away",
            )
