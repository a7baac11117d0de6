"""Numbers as people write them into boxes of text: with decimal points or commas, and marks of thousands.

``assets/page.js`` reads fields that hold one number by the same rules.
"""

from __future__ import annotations

import math
import re

from audits.data.io.columns import as_written_number
from audits.errors import InputError

_MARKS = (".", ",")


def read_number(text: str) -> float | None:
    """Return the number that a text says; None where it says none, or where it could say two.

    Examples
    --------
    >>> [read_number(text) for text in ("0.5", "0,5", "1.234,5", "1 234,5", "1,234.5", "−3", "1e-3")]
    [0.5, 0.5, 1234.5, 1234.5, 1234.5, -3.0, 0.001]
    >>> [read_number(text) for text in ("1,234", "five", "")]
    [None, None, None]
    """
    plain = text.strip().replace("−", "-")
    if re.fullmatch(r"[+-]?0?,[0-9]+", plain):  # three digits behind it are no thousands
        plain = plain.replace(",", ".")
    try:
        found = float(plain.replace("_", "?"))  # Python's own way of writing thousands is nobody's here
    except ValueError:
        ways = {as_written_number(plain, mark) for mark in _MARKS} - {None}
        found = float(ways.pop() or "nan") if len(ways) == 1 else math.nan
    return found if math.isfinite(found) else None


def read_numbers(text: str, where: str) -> list[float]:
    """Return the numbers of a list.

    Raises
    ------
    InputError
        If a part is no number, or could be two.

    Examples
    --------
    >>> read_numbers("18, 25,5, 1 000", "the edges"), read_numbers("0,5; 1,5", "the edges")
    ([18.0, 25.5, 1000.0], [0.5, 1.5])
    """
    found = []
    for part in split_numbers(text, where):
        value = read_number(part)
        if value is None:
            raise InputError(where, "must be numbers", part, "write them as 1234 or 0.5")
        found.append(value)
    return found


def split_numbers(text: str, where: str, count: int | None = None) -> list[str]:
    """Return the parts of a list, which stand apart by semicolons, else by commas, else by spaces.

    Parameters
    ----------
    count : int, optional
        How many there must be, where that is known.

    Raises
    ------
    InputError
        If a single comma may stand in a number or between two.

    Examples
    --------
    >>> split_numbers("18,25,45", "it"), split_numbers("0,5 1,5", "it"), split_numbers("18,65", "it", 2)
    (['18', '25', '45'], ['0,5', '1,5'], ['18', '65'])
    """
    plain = text.strip().strip(",;").strip()
    if count == 1:
        return [plain] if plain else []
    if ";" in plain:
        parts = plain.split(";")
    elif re.search(r",\s", plain):
        parts = re.split(r",\s", plain)
    elif plain.count(",") == 1 and count is None and re.search(r"[0-9],[0-9]", plain) and " " not in plain:
        first, second = plain.split(",")
        rule = f"“{plain[:40]}” can be {first}.{second}, or {first} and {second}"
        raise InputError(where, f"is ambiguous: {rule}", advice="put “;” between numbers")
    else:
        parts = plain.split() if " " in plain else plain.split(",")
    return [part.strip() for part in parts if part.strip()]
