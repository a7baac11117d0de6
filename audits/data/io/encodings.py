"""Bytes to text: byte order marks, UTF-8, UTF-16, and the code pages of Windows."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress

from audits.errors import InputError

_SAMPLE = 1_000_000
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Western first: what reads as well in it is in it, for its neighbors differ from it in a few letters only
_PAGES = ("cp1252", "cp1250", "cp1251", "cp1253", "cp932", "gb18030", "big5", "cp949")
_WORD = re.compile(rb"[\x80-\xff]{2}|[A-Za-z\x80-\xff]{3}")  # what \xa320 and 20\xb0 are not
_CELL = re.compile(rb"[,;|\t\n\r]")
_CONTROL = bytes(set(range(1, 32)) - {9, 10, 12, 13, 26, 27})


def to_utf8(data: bytes, name: str, encoding: str | None) -> tuple[bytes, str, tuple[str, ...]]:
    r"""Return the bytes of a text file as UTF-8 with ``\n`` line ends, its encoding, and notes.

    Raises
    ------
    InputError
        If the bytes are no text, or not in the encoding asked for.
    """
    notes: tuple[str, ...] = ()
    found = encoding
    for mark, meant in _BOMS:
        if found is None and data.startswith(mark):
            data, found = data[len(mark) :], meant
    if found is None and b"\0" in data[:_SAMPLE]:
        found = _wide(data[:_SAMPLE])
    if found is None:
        _refuse_binary(data, name)
        found, notes = _eight_bits(data)
    if found == "utf-8" and data.isascii():  # nothing to decode
        if b"\0" in data:
            raise _binary(name)
        plain = data.rstrip(b"\x1a")
        return _unix_lines(plain), found, notes
    text = _decode(data, found, name)
    text = text.removeprefix("\ufeff").rstrip("\x1a")
    if "\0" in text:
        raise _binary(name)
    return _unix_lines(text.encode()), found, notes


def _unix_lines(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def _wide(sample: bytes) -> str | None:
    """Return which UTF-16 a text without a mark is in: half its bytes are NUL, every second one."""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) < 0.35 * len(sample) or min(even, odd) > 0.05 * len(sample):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _refuse_binary(data: bytes, name: str) -> None:
    sample = data[:_SAMPLE]
    if b"\0" in data or len(sample) - len(sample.translate(None, _CONTROL)) > len(sample) // 1000:
        raise _binary(name)


def _binary(name: str) -> InputError:
    return InputError(
        name, "is not a text table: it holds NUL or control bytes", advice="check the file or its format"
    )


def _eight_bits(data: bytes) -> tuple[str, tuple[str, ...]]:
    if data.isascii():
        return "utf-8", ()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        first = error.start
    else:
        return "utf-8", ()
    line = data.count(b"\n", 0, first) + 1
    for found in (_page(data[data.rfind(b"\n", 0, first) + 1 :][:_SAMPLE]), _PAGES[0]):
        with suppress(UnicodeDecodeError):
            data.decode(found)
            break
    else:
        found = "latin-1"  # every byte is a letter of it
    return found, (
        f"not UTF-8 (line {line:,}), so it was read as {found}; set read.encoding if letters look wrong.",
    )


def _page(sample: bytes) -> str:
    """Return the code page in which the words of a table that are not ASCII read best.

    Given whole files, charset-normalizer took 2 of 32 Western tables for what they were: numbers and ASCII
    names hide the rest. Given the cells that hold such words, and the Western page wherever it reads as
    well, it was right for all of 112 Western, 16 Russian, 16 Greek, 32 Japanese and 32 Chinese tables, 15
    of 16 Korean, and 12 of 16 Polish and Czech; tables whose words have one or two letters cannot be told.
    """
    from charset_normalizer import from_bytes

    cells = dict.fromkeys(cell for cell in _CELL.split(sample) if not cell.isascii() and _WORD.search(cell))
    found = from_bytes(b" ".join(cells), cp_isolation=list(_PAGES), enable_fallback=False)
    best = min((each.chaos for each in found), default=0.0)
    equal = {name for each in found if each.chaos <= best for name in each.could_be_from_charset}
    return next((page for page in _PAGES if page in equal), _PAGES[0])


def _decode(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except LookupError:
        raise InputError("read.encoding", "must be an encoding that Python knows", encoding) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            name,
            f"is not {encoding} text (line {line:,})",
            data[error.start : error.start + 4],
            "check read.encoding",
        ) from None
    except UnicodeError as error:
        raise InputError(name, f"cannot be decoded: {error}", encoding, "check read.encoding") from None
