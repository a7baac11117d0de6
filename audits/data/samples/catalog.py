"""The bundled example sets: what each is, in plain words, and where its files are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from audits.checks import one_of
from audits.errors import InputError, os_refusal

README = "README.md"
_PACKAGE = Path(__file__).resolve().parents[2]
_INSTALLED = _PACKAGE / "pages" / "sample_data"
FOLDER = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent / "sample_data"
"""The files: inside the installed package, or beside it in a checkout."""


@cache
def _read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class ExampleSet:
    """One example set.

    Attributes
    ----------
    name : str
        Short name: ``NAME.yaml`` is its spec, ``NAME.csv`` its data.
    title, sentence : str
        For someone who has never audited a model: what it is about, and what there is to see.
    others : tuple of str
        Names of its other files.
    """

    name: str
    title: str
    sentence: str
    others: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """Names of all its files: the spec, the data, the models."""
        return (f"{self.name}.yaml", f"{self.name}.csv", *self.others)

    @property
    def spec(self) -> dict[str, Any]:
        """The spec as plain data, a fresh copy at each call."""
        return deepcopy(_read(self.files[0]))


CATALOG: Mapping[str, ExampleSet] = MappingProxyType(
    {
        each.name: each
        for each in (
            ExampleSet(
                "hiring",
                "Hiring: equal rates that hide unequal treatment",
                "A model hires about as many women as men, yet it lifts long-haired women and holds back "
                "women with short hair: 2,000 invented applicants.",
                ("hiring.onnx",),
            ),
            ExampleSet(
                "loans",
                "Loans: a small group that every single number misses",
                "A lender's model looks even-handed by sex, by ethnicity and by age, and treats one "
                "intersection of the three much worse: 5,000 invented applications with some blanks.",
                ("loans_truth.csv", "loans.onnx"),
            ),
            ExampleSet(
                "law_school",
                "Law school: what would the grades have been?",
                "A model that predicts the upper half of a law class, trained on grades that race itself "
                "shifts; 3,000 invented applicants, each with the grades they would have had with the other "
                "race.",
                ("law_school_truth.csv",),
            ),
            ExampleSet(
                "arrests",
                "Arrests: a rating built on a count that differs by group",
                "A rating that only counts earlier arrests falls harder on the group that is arrested more "
                "often: 4,000 invented people, with the exact answer known.",
            ),
            ExampleSet(
                "admissions",
                "Admissions: two schools, one rate, two rules",
                "A college takes a quarter of each school: by lot from the expensive one, only the best of "
                "the other. Rates are equal and the treatment is not: 2,000 invented applicants.",
            ),
        )
    }
)
"""The example sets by name, in the order in which to offer them."""


def write_samples(
    names: str | Iterable[str], out: Path | str, *, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write example sets: specs, data, models, and one README about all sets.

    Parameters
    ----------
    names : str or iterable of str
        Names in `CATALOG`, or ``"all"``.
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
        one_of("name", name, ["all", *CATALOG], what="a bundled example set or 'all'")
    if not wanted:
        raise InputError(
            "name", "must name at least one example set", advice=f"choose {', '.join(CATALOG)} or all"
        )
    chosen = [sample for sample in CATALOG.values() if "all" in wanted or sample.name in wanted]
    files = [*(name for sample in chosen for name in sample.files), README]
    out = Path(out)
    with os_refusal("out", "must be a folder that can be written", str(out)):
        contents = {name: (FOLDER / name).read_bytes() for name in files}
        out.mkdir(parents=True, exist_ok=True)
        if not overwrite:
            _keep_others(out, contents)
        for name, content in contents.items():
            (out / name).write_bytes(content)
    return tuple(out / name for name in files)


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
