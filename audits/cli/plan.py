"""``plan``: what each audit of a spec could see at given group sizes."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option
from typer.core import TyperCommand

from audits.cli.parameters import Json, SpecFile
from audits.cli.text import one_line, table

if TYPE_CHECKING:
    pass


class SeveralValues(TyperCommand):
    """Lets an option that may be repeated take several values at once: ``--people 100 1000``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the option before each of its values, as Typer wants it."""
        many = {name for each in self.params if getattr(each, "multiple", False) for name in each.opts}
        found: list[str] = []
        option = ""
        for word in args:
            if word.startswith("--"):
                option = word if word in many else ""
            elif option and found[-1] != option:
                found.append(option)
            found.append(word)
        return super().parse_args(ctx, found)


def plan(
    spec: SpecFile,
    people: Annotated[
        list[int] | None, Option(metavar="N …", help="people in each group (default: 100 300 1000)")
    ] = None,
    difference: Annotated[
        list[float] | None,
        Option(metavar="SHARE …", help="share of one group whose decisions are changed (default: 0 0.1)"),
    ] = None,
    worlds: Annotated[int, Option(metavar="N", help="simulations of each size and share")] = 20,
    as_json: Json = False,
) -> str:
    """Simulate groups of given sizes, to see what each audit of a spec could find."""
    from audits.cli.specs import read_spec
    from audits.runs.plans import power

    found = power.plan(
        read_spec(spec), sizes=people or [100, 300, 1000], differences=difference or [0.0, 0.1], worlds=worlds
    )
    if as_json:
        return json.dumps([dataclasses.asdict(row) for row in found], indent=1, ensure_ascii=False)
    rows = [
        {"audit": each.audit, "people in each group": f"{each.people:,}", **each.words}
        for each in found
        if not each.reason
    ]
    lines = [
        *table([tuple(each) for each in (*rows[:1], *(row.values() for row in rows))]),
        "",
        f"Shares of {worlds:,} simulated worlds, with their Wilson 95% intervals. Evidence where 0 points "
        "were planted is a false alarm.",
    ]
    refused = {each.audit: each.reason for each in found if each.reason}
    lines += [f"{name} cannot be planned: {one_line(reason)}" for name, reason in refused.items()]
    return "\n".join(lines)
