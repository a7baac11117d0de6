"""``init``: a commented spec for a table, which runs as it is; and the same guesses for ``run FILE.csv``."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from audits.cli.parameters import Force
from audits.cli.text import called_as, one_line, write_file
from audits.errors import InputError
from audits.text import text_template

if TYPE_CHECKING:
    from audits.data import Table
    from audits.runs.plans.proposal import Proposal, RoleAnswers


def init(
    file: Annotated[Path, Argument(metavar="FILE")],
    out: Annotated[
        Path | None, Option(metavar="SPEC.yaml", help="where to write it (default: beside FILE)")
    ] = None,
    decision: Annotated[
        str | None, Option(metavar="COLUMN", help="the decision, audited as it is, without a model")
    ] = None,
    truth: Annotated[
        str | None,
        Option(metavar="COLUMN", help="the true outcome; without a decision, a model learns it"),
    ] = None,
    good: Annotated[
        list[str] | None,
        Option(metavar="VALUE", help="the value that is good for the person; may be repeated"),
    ] = None,
    by: Annotated[
        list[str] | None, Option(metavar="COLUMN", help="groups to compare; may be repeated")
    ] = None,
    force: Force = False,
) -> str:
    """Write a spec for a table, ready to run, with a comment on each guess."""
    from audits.cli.doctor import finding_lines
    from audits.runs.plans.proposal import RoleAnswers, table_findings

    table, proposal = _proposal(file, RoleAnswers(decision, truth, good or (), by or ()))
    decided = proposal.spec["model"].get("predictions", {}).get("label")
    doctor = finding_lines(table_findings(table, proposal.spec["data"], decided))
    place = file.with_suffix(".yaml") if out is None else out
    try:
        path = file.absolute().relative_to(place.absolute().parent)
    except ValueError:
        path = file.absolute()
    told = _write_spec(place, _commented_yaml(proposal, str(path), doctor), force)
    return "\n".join([*guess_lines(proposal), *doctor, told])


def data(
    name: Annotated[
        str, Argument(metavar="NAME", help="adult, bank, communities, compas, german or law_school")
    ],
    folder: Annotated[Path, Option("--from", metavar="DIR", help="where its files are")] = Path(),
    out: Annotated[
        Path | None, Option(metavar="SPEC.yaml", help="where to write it (default: NAME.yaml)")
    ] = None,
    force: Force = False,
) -> str:
    """Write a spec for a public data set from files you downloaded."""
    from audits.checks import choices
    from audits.data.public import PUBLIC, public_section
    from audits.runs.documents import dump_yaml
    from audits.runs.plans.proposal import usual_model
    from audits.runs.registry import AUDITS

    if name not in PUBLIC and not get_close_matches(name, PUBLIC, n=1):
        raise InputError(
            "NAME", f"must be one of {choices(PUBLIC)}", name,
            "others, such as OpenML's, are not fetched: download the table and run init FILE",
        )  # fmt: skip
    section = public_section(name, folder.absolute())
    paths = section["path"] if isinstance(section["path"], list) else [section["path"]]
    missing = [path for path in paths if not Path(path).is_file()]
    if missing:
        raise InputError(
            "--from",
            "must hold the files as their authors publish them; nothing is fetched from the network",
            str(folder),
            f"missing are {', '.join(Path(path).name for path in missing)}",
        )
    place = Path(f"{name}.yaml") if out is None else out
    model, why = usual_model(section["label"])
    spec = {"data": section, "model": model, "audits": [AUDITS.first]}
    return f"{why}\n{_write_spec(place, dump_yaml(spec), force)}"


def _write_spec(place: Path, text: str, force: bool) -> str:
    if place.exists() and not force:
        raise InputError("--out", "names a file that exists", str(place), "name another, or add --force")
    write_file(place, text)
    return f"Written to {place}; run it: {called_as()} run {shlex.quote(str(place))}"


def guess_spec(file: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the spec guessed for a table, its path absolute, and the guesses in lines."""
    _, proposal = _proposal(file)
    section = {"path": str(file.absolute()), **proposal.spec["data"]}
    spec = {**proposal.spec, "data": section}
    return spec, guess_lines(proposal)


def _proposal(file: Path, answers: RoleAnswers | None = None) -> tuple[Table, Proposal]:
    from audits.runs.plans.proposal import propose, read_past_header

    table, read = read_past_header(file)
    proposal = propose(table, answers=answers)
    if read:
        proposal.spec["data"] = {"read": read, **proposal.spec["data"]}
        proposal.guesses["data.read"] = (
            "The first row did not look like a header; the names are from the row below it."
        )
    return table, proposal


def guess_lines(proposal: Proposal) -> list[str]:
    """Return a line for each guess."""
    return [one_line(sentence) for sentence in proposal.guesses.values()]


def _commented_yaml(proposal: Proposal, path: str, doctor: Sequence[str]) -> str:
    """Return the spec as YAML, each guess above the key that it set, what the doctor found below its data."""
    file = text_template(Path(__file__).with_name("spec.yaml.j2"), str, entry=_entry, comment=_comment)
    lines = "\n".join(doctor).splitlines()
    text = file.render(
        spec=proposal.spec, guesses=proposal.guesses, path=path, doctor=lines, called=called_as()
    )
    return "\n".join(filter(None, text.split("\n"))) + "\n"


def _entry(value: dict[str, Any], indent: str = "  ") -> str:
    from audits.runs.documents import dump_yaml

    parts = [dump_yaml({key: item}).strip() for key, item in value.items()]
    plain = [part[1:-1] if part[0] == "{" else part for part in parts]  # a scalar alone comes in braces
    return textwrap.indent("\n".join(plain), indent)


def _comment(sentence: str | None, indent: str = "  ") -> str:
    told = textwrap.wrap(one_line(sentence or ""), 96, initial_indent="# ", subsequent_indent="# ")
    return textwrap.indent("\n".join(told), indent)
