"""Whether audits would run: each tried on a part of the people, with few draws of what is by chance."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from audits.checks import build
from audits.data import AuditData
from audits.errors import InputError
from audits.models import Subject
from audits.runs.execute import carry_out
from audits.runs.registry import AUDITS
from audits.runs.spec import AuditRequest

TRIED = 2_000
"""People in a trial."""
_MIN = 25  # of every group, where there are so many
_QUICK = {"permutations": (0, 19), "repeats": (0,), "refits": (0,), "draws": (0, 200), "ways_people": (5,)}
"""Values of options that make an audit quick, the quickest first; an audit takes the first that it allows."""
_PLACE = re.compile(r"^audits\[\d+\]\.(?:\w+:? )?")


def trial(subject: Subject, *, audits: Mapping[str, Mapping[str, Any]], seed: int = 0) -> dict[str, str]:
    """Try audits; return why each one that refuses does so.

    Parameters
    ----------
    audits : mapping
        Options by the audit's name.

    Returns
    -------
    dict
        A sentence by the audit's name, empty for one that runs.
    """
    rows = _some(subject.data, np.random.default_rng(seed))
    few = subject if rows is None else dataclasses.replace(subject, data=subject.data.take(rows))
    return {name: _refusal(few, name, options, seed) for name, options in audits.items()}


def refusals(said: Mapping[str, str]) -> list[str]:
    """Return each reason to refuse once, however many audits have it.

    Examples
    --------
    >>> refusals({"flipset": "audits[0].flipset: x is constant.", "recourse": "x is constant.", "groups": ""})
    ['x is constant.']
    >>> refusals({"flipset": "audits[0].flipset.source needs 2 people.", "groups": ""})
    ['flipset.source needs 2 people.']
    """
    return list(dict.fromkeys(_PLACE.sub("", sentence) for sentence in said.values() if sentence))


def _refusal(subject: Subject, name: str, options: Mapping[str, Any], seed: int) -> str:
    request = AuditRequest(name, build(AUDITS[name].options, _quick(name, options), name))
    try:
        carry_out(request, 0, subject, seed)
    except InputError as error:
        return str(error)
    return ""


def _quick(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    found, kind = dict(options), AUDITS[name].options
    for option in {each.name for each in dataclasses.fields(kind)} & _QUICK.keys():
        for value in _QUICK[option]:
            try:
                build(kind, {**found, option: value}, name)
            except InputError:
                continue
            found[option] = value
            break
    return found


def _some(data: AuditData, rng: np.random.Generator) -> np.ndarray | None:
    """Return the rows of a trial, some of every group; None where they are all."""
    if data.n <= TRIED:
        return None
    order = rng.permutation(data.n)
    chosen = [order[:TRIED]]
    for name in data.protected:
        values = data.groups[name].to_numpy(dtype=str)[order]
        chosen += [order[values == value][:_MIN] for value in np.unique(values)]
    return np.unique(np.concatenate(chosen))
