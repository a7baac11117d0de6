"""What installed packages bring by an entry point: an audit, a metric, a format of model files."""

from __future__ import annotations

from collections.abc import Container
from importlib.metadata import EntryPoint
from typing import Protocol, TypeVar

from audits.errors import InputError


class _NamedObject(Protocol):
    @property
    def name(self) -> str: ...


_Kind = TypeVar("_Kind", bound=_NamedObject)


def load_plugin(entry: EntryPoint, kind: type[_Kind], taken: Container[str] = ()) -> _Kind:
    """Return what an entry point names.

    Raises
    ------
    InputError
        If it cannot be loaded, is no `kind`, or has a name that is `taken`: names the package.
    """
    package = entry.dist.name if entry.dist is not None else entry.value
    where = f"{kind.__name__.lower()} {entry.name!r} of the package {package!r}"
    try:
        found = entry.load()
    except Exception as error:  # whatever happens while code of others is imported
        reason = f"{type(error).__name__}: {error}"
        raise InputError(where, f"cannot be loaded: {reason}", advice="fix it, or remove it") from error
    if not isinstance(found, kind):
        raise InputError(where, f"must be an {kind.__module__}.{kind.__name__}", type(found).__name__)
    if found.name in taken:
        raise InputError(where, "must have a name of its own", found.name)
    return found
