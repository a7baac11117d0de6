"""Options of audits, stated once on their fields: type, default, bounds, choices, unit, a sentence of help.

An options class is a frozen keyword-only dataclass whose fields are annotated with `option`, or with one of
the kinds that several audits share. Specs are checked against it, and pages, docs and README tables read it
through `options_of`.
"""

from __future__ import annotations

import dataclasses
import types
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt
from pydantic import Field
from pydantic.fields import FieldInfo


@dataclass(frozen=True)
class Option:
    """What is stated of one option.

    Attributes
    ----------
    name : str
        As specs name it.
    kind : {"number", "integer", "switch", "choice", "several", "text", "other"}
        What a page can ask for it with; "other" needs a page of its own.
    default : object
        None where an audit works it out, or where `required`.
    required : bool
    optional : bool
        Whether it may be left out with no value (None).
    at_least, above, at_most, below : float or None
        Bounds of a number; those of `above` and `below` do not belong to it.
    choices : tuple
        The values of a choice, or those of which several can be chosen.
    unit : str
        Such as ``"people"``; empty where it has none.
    help : str
        What it is, in a sentence.
    """

    name: str
    kind: Literal["number", "integer", "switch", "choice", "several", "text", "other"]
    default: Any
    required: bool
    optional: bool
    at_least: float | None
    above: float | None
    at_most: float | None
    below: float | None
    choices: tuple[Any, ...]
    unit: str
    help: str

    @property
    def bounds(self) -> str:
        """The bounds in words: ``"from 0 to 9,999"``; empty where there are none."""
        ends = {"from": self.at_least, "above": self.above, "to": self.at_most, "below": self.below}
        return " ".join(f"{word} {end:g}" for word, end in ends.items() if end is not None)


def option(help: str, *, unit: str = "", **bounds: Any) -> Any:  # noqa: A002 - what it is called everywhere
    """Return what states an option inside ``Annotated``.

    Parameters
    ----------
    help : str
        One sentence.
    unit : str
        What a number counts.
    **bounds
        ``ge``, ``gt``, ``le``, ``lt``, ``allow_inf_nan`` and the like, as pydantic's `Field` names them.

    Examples
    --------
    >>> People = Annotated[int, option("Largest number of people.", unit="people", ge=2)]
    """
    return Field(description=help, json_schema_extra={"unit": unit} if unit else None, **bounds)


Level = Annotated[
    float, option("Error rate of intervals and verdict: 0.05 gives 95% intervals.", ge=0.001, le=0.5)
]
Material = Annotated[float, option("Smallest difference that matters to you.", unit="as a share", gt=0, lt=1)]
MaterialAmount = Annotated[
    float | str,
    option(
        "For a numeric outcome, the smallest difference that matters: in its unit (0.5), or as a "
        "percentage of the reference group's mean ('5%')."
    ),
]
MeasureAsked = Literal["equal_rates", "equal_errors", "calibration", "amounts"]
MEASURE_WORDS: dict[str, str] = {
    "equal_rates": "equal rates: every group gets the favorable decision as often",
    "equal_errors": "equal errors: people with the same outcome are treated alike in every group",
    "calibration": "calibration: favored people turn out well equally often in every group",
    "amounts": "amounts: every group gets the same amount",
}
"""What each measure that can be asked for means."""
MaterialOn = Annotated[
    Literal["difference", "ratio", "either"],
    option(
        "What the limit applies to: the difference of two decision rates; their ratio (0.8, "
        "four-fifths); or either: the difference and, if the overall rate is below 20%, the ratio "
        "too."
    ),
]
Permutations = Annotated[int, option("Permutations for each p-value; 0 for none.", ge=0, le=100_000)]


@cache
def options_of(kind: type) -> tuple[Option, ...]:
    """Return what is stated of every option of an options class, in its order."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_read(field, hints[field.name]) for field in dataclasses.fields(kind))


def option_of(kind: type, name: str) -> Option:
    """Return what is stated of the option `name`; KeyError where there is none."""
    return {each.name: each for each in options_of(kind)}[name]


def _read(field: dataclasses.Field[Any], hint: Any) -> Option:
    told: list[FieldInfo] = []
    optional = False
    while True:
        if get_origin(hint) is Annotated:
            hint, *extras = get_args(hint)
            told += [each for each in extras if isinstance(each, FieldInfo)]
        elif get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint):
            optional = True
            rest = tuple(each for each in get_args(hint) if each is not type(None))
            hint = rest[0] if len(rest) == 1 else Union[rest]  # noqa: UP007 - built at run time
        else:
            break
    bounds: dict[type, float] = {}
    for info in reversed(told):
        for each in info.metadata:
            for sort, key in ((Ge, "ge"), (Gt, "gt"), (Le, "le"), (Lt, "lt")):
                if isinstance(each, sort):
                    bounds[sort] = float(getattr(each, key))
    extra = next((info.json_schema_extra for info in told if info.json_schema_extra), {}) or {}
    missing = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    default = field.default if field.default is not dataclasses.MISSING else None
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    many = get_origin(hint) in (list, tuple)
    each = get_args(hint)[0] if many else hint
    kinds = {bool: "switch", int: "integer", float: "number", str: "text", float | str: "text"}
    kind = kinds.get(hint, "other")
    if get_origin(each) is Literal:
        kind = "several" if many else "choice"
    return Option(
        name=field.name,
        kind=kind,  # type: ignore[arg-type]
        default=default,
        required=missing,
        optional=optional,
        at_least=bounds.get(Ge),
        above=bounds.get(Gt),
        at_most=bounds.get(Le),
        below=bounds.get(Lt),
        choices=get_args(each) if get_origin(each) is Literal else (),
        unit=str(extra.get("unit", "")) if isinstance(extra, dict) else "",
        help=next((info.description for info in told if info.description), ""),
    )
