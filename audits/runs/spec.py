"""The spec: data, model, threshold, seed and audits as plain data, checked, and back.

`parse_spec` turns nested mappings into a `Spec` whose every value has been checked; each error names the
key, the rule and the value. `Spec.to_dict` gives the one canonical form, which parses to an equal spec.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_args

import numpy as np
from pydantic import Field

from audits.aliases import value_line
from audits.checks import Strict, adapter, build, one_of
from audits.data import DataSpec, Limits, data_spec
from audits.data.digests import plain_digest
from audits.errors import InputError
from audits.models import ModelSpec, model_spec
from audits.models.spec import Train
from audits.options import MeasureAsked
from audits.runs.digests import digest_of, path_digest
from audits.runs.documents import plain_data
from audits.runs.gates.gate import Gate, read_gate
from audits.runs.registry import AUDITS
from audits.runs.source.strategy import is_counted, sample_size
from audits.runs.version import stamp

_MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class AuditRequest:
    """One audit asked for: its name in the registry and its checked options."""

    name: str
    options: Any

    def all_options(self) -> dict[str, Any]:
        """Return every option as plain data, defaults included."""
        return _dump(self.options)

    def random(self, seed: int, *more: int) -> np.random.Generator:
        """Return the random stream of the audit: of the seed, its name and its options, wherever it stands.

        Options in `seed_ignores` count as their defaults.

        Parameters
        ----------
        more : int
            Numbers that tell further streams of the same audit from each other.
        """
        later = getattr(self.options, "later", {})
        asked = self.all_options() | getattr(self.options, "seed_ignores", {})
        options = {key: each for key, each in asked.items() if later.get(key, ...) != each}
        own = int(plain_digest(AUDITS.first_name(self.name), options), 16)
        return np.random.default_rng([seed, *more, own])

    def paths(self) -> dict[str, str]:
        """Return the files that the options name, by key."""
        found: dict[str, str] = self.options.paths() if hasattr(self.options, "paths") else {}
        return found


@dataclass(frozen=True)
class Comparing(Strict):
    """A second model: every audit of the run is made of it as well, on the same people.

    Attributes
    ----------
    model : ModelSpec, optional
        Where the second model comes from, as in model for the first.
    threshold : float or dict, optional
        Its own threshold; by default the first model's.
    treated : dict, optional
        Instead of model: the first model, retrained for its worst group as in mitigation, with options of
        that audit; `{}` for the defaults.
    """

    model: ModelSpec | None = None
    threshold: float | dict[str, dict[str, float]] | None = None
    treated: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the canonical form."""
        threshold = {} if self.threshold is None else {"threshold": copy.deepcopy(self.threshold)}
        if self.model is None:
            return {"treated": copy.deepcopy(self.treated), **threshold}
        model = adapter(ModelSpec).dump_python(self.model, mode="json", exclude_none=True)
        return {"model": model, **threshold}

    @property
    def path(self) -> str | None:
        """The second model's file, if it is one."""
        return None if self.model is None else self.model.path


@dataclass(frozen=True)
class Spec:
    """A checked spec.

    Attributes
    ----------
    threshold : float or dict, optional
        Score from which a decision is favorable: one number, or column to value to number. Where it is left
        out 0.5, and of a model with more than two classes its own decision.
    seed : int in [0, 2**32)
        Seed of everything random in the run.
    base_dir : Path
        Folder that relative paths start from; no part of the spec's identity.
    gate : Gate, optional
        What passes; decides no number, so no part of a run's key.
    compare : Comparing, optional
        A second model, of which every audit is made on the same people.
    search : bool
        Whether a run that clears an attribute searches for groups that the average hides.
    measure : str, optional
        Which measure fits; the comparison of groups leads with it.
    """

    data: DataSpec
    model: ModelSpec
    threshold: float | dict[str, dict[str, float]] | None
    seed: int
    audits: tuple[AuditRequest, ...]
    base_dir: Path = field(compare=False, default=Path())
    gate: Gate | None = None
    compare: Comparing | None = None
    search: bool = True
    measure: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the canonical form: plain data, defaults other than none and empty written out."""
        gate = {} if self.gate is None else {"gate": self.gate.to_dict()}
        compare = {} if self.compare is None else {"compare": self.compare.to_dict()}
        return {
            "data": {**self.data.to_dict(), "missing": self.data.missing, "test_size": self.data.test_size},
            "model": adapter(ModelSpec).dump_python(self.model, mode="json", exclude_none=True),
            **compare,
            "threshold": copy.deepcopy(self.threshold),
            "seed": self.seed,
            "audits": [{request.name: _brief(request.options)} for request in self.audits],
            **({} if self.search else {"search": "off"}),
            **({} if self.measure is None else {"measure": self.measure}),
            **gate,
        }

    def paths(self) -> list[tuple[str, str, Path]]:
        """Return each file named in the spec: its key, the path as written, and where it lies."""
        data, model = self.data.path, self.model.path
        found = [("data.path", data)] if isinstance(data, str) else []
        if not isinstance(data, str):
            found += [(f"data.path[{place}]", path) for place, path in enumerate(data or ())]
        found += [("model.path", model)] if model else []
        if self.compare is not None and self.compare.path:
            found.append(("compare.model.path", self.compare.path))
        for place, request in enumerate(self.audits):
            where = f"audits[{place}].{request.name}"
            found += [(f"{where}.{key}", path) for key, path in request.paths().items()]
        return [(where, path, self.base_dir / path) for where, path in found]

    def digests(self) -> list[str]:
        """Return the SHA-256 of each of `paths`.

        Raises
        ------
        InputError
            If a file does not exist or cannot be read.
        """
        most = None if self.streamed or self.drawn else Limits().file_bytes
        return [
            path_digest(path, where, written, most=most if where.startswith("data.path") else None)
            for where, written, path in self.paths()
        ]

    @property
    def streamed(self) -> bool:
        """Whether people are counted batch by batch instead of being held."""
        return self.compare is None and is_counted(self.data, self.model, self.audits, self.data_paths())

    @property
    def drawn(self) -> int | None:
        """How many rows are drawn of a larger table; None where all of it is held or counted."""
        return None if self.streamed else sample_size(self.data, self.data_paths())

    def data_paths(self) -> list[Path]:
        """Return the files and folders of ``data.path``."""
        return [path for where, _, path in self.paths() if where.startswith("data.path")]

    @property
    def asks_a_service(self) -> bool:
        """Whether scores come from an address, where another model may answer the next time."""
        return any(each.model.endpoint is not None for each in (self, self.of_second()))

    def of_first(self) -> Spec:
        """Return the spec of the first model alone."""
        return dataclasses.replace(self, compare=None)

    def of_second(self) -> Spec:
        """Return the spec of the second model alone, where there is one.

        Its threshold is the first model's unless it has its own, or the first has but the usual one of its
        kind. One that is the first model treated keeps ``compare``, which alone says how it came about.
        """
        if self.compare is None:
            return self
        own, model = self.compare.threshold, self.compare.model
        threshold = self.threshold if own is None else own
        if model is None:
            return dataclasses.replace(self, threshold=threshold)
        if own is None and threshold == usual_threshold(self.model):
            threshold = usual_threshold(model)
        return dataclasses.replace(self, model=model, threshold=threshold, compare=None)

    def key(self, digests: list[str]) -> str:
        """Return the SHA-256 of all that decides the run's numbers: spec, file contents, versions."""
        return digest_of({"spec": self._addressless(digests), "stamp": stamp()})

    def content_key(self, digests: list[str]) -> str:
        """Return the SHA-256 of spec and file contents, whatever the version that computes."""
        return digest_of(self._addressless(digests))

    def table_key(self, digests: list[str]) -> str:
        """Return the SHA-256 of all that decides how the table is read."""
        data = self._addressless(digests)["data"]
        told = {name: data.get(name) for name in ("path", "format", "read")}
        if self.drawn:  # by lot, among rows of equal label and groups
            told |= {name: data.get(name) for name in ("draw", "label", "protected", "recode", "bins")}
            told["seed"] = self.seed
        return digest_of(told)

    def subject_key(self, digests: list[str]) -> str:
        """Return the SHA-256 of all that decides data, model and decisions: everything but the audits."""
        plain = self._addressless(digests)
        plain.pop("measure", None)
        return digest_of({**plain, "audits": None})

    def _addressless(self, digests: list[str]) -> dict[str, Any]:
        """Return the canonical form with contents for paths: it does not matter where a file lies."""
        plain = self.to_dict()
        plain.pop("gate", None)
        # results and their words name a file, and its ending can decide how it is read
        known = {
            where: [digest, Path(written).name]
            for (where, written, _), digest in zip(self.paths(), digests, strict=True)
        }
        if self.model.path is not None:
            plain["model"]["path"] = known["model.path"]
        if "compare.model.path" in known:
            plain["compare"]["model"]["path"] = known["compare.model.path"]
        plain["data"]["path"] = [each for where, each in known.items() if where.startswith("data.path")]
        for place, request in enumerate(self.audits):
            for key in request.paths():
                *parents, last = key.split(".")
                section = plain["audits"][place][request.name]
                for parent in parents:
                    section = section[parent]
                section[last] = known[f"audits[{place}].{request.name}.{key}"]
        return plain


def usual_threshold(model: ModelSpec) -> float | None:
    """Return the threshold where none is written; None where the model may have more than two classes."""
    two = model.predictions is not None or (model.train is not None and model.predict is None)
    return 0.5 if two else None


def parse_spec(document: Any, base_dir: Path) -> Spec:
    """Check a spec given as plain data.

    Parameters
    ----------
    document : mapping
        Keys ``data``, ``audits`` and ``model`` (left out where a numeric label is itself audited); optional
        ``threshold``, ``seed`` (0), ``compare``, ``search`` (on) and ``gate``.
    base_dir : Path
        Folder that relative paths start from.

    Raises
    ------
    InputError
        For the first thing that is wrong: names the key, the rule and the value.
    """
    if not isinstance(document, Mapping):
        raise InputError("the spec", "must be a mapping with the keys data, model and audits", document)
    top = build(SpecKeys, plain_data(document, ""), "")
    data = _data(top.data)
    measure = None if top.measure is None else one_of("measure", top.measure, get_args(MeasureAsked))
    first = model_spec(_model_section(_itself(data) if top.model is None else top.model))
    return Spec(
        data=data,
        model=first,
        threshold=usual_threshold(first) if top.threshold is None else _threshold(top.threshold),
        seed=top.seed,
        audits=_with_measure(_audits(top.audits), measure),
        base_dir=base_dir,
        gate=None if top.gate is None else read_gate(top.gate),
        compare=None if top.compare is None else _comparing(top.compare, first),
        search=_SWITCH[one_of("search", top.search, _SWITCH)],
        measure=measure,
    )


@dataclass(frozen=True)
class SpecKeys(Strict):
    """The keys of a spec, before what is under them is checked.

    Attributes
    ----------
    data : mapping
        Which table, which rows, which label, which groups.
    model : mapping
        Where the model comes from: exactly one source.
    threshold : float or mapping
        The decision is favorable if the score is at least this: one number (default: 0.5), or one for each
        value of a protected attribute: {race: {A: 0.4, B: 0.5}}.
    seed : int
        Seed of everything random, a whole number (default: 0). The same seed gives the same numbers.
    audits : list
        The list of audits with their options: - groups, - flipset: {source: …, target: …}.
    compare : mapping
        A second model. Every audit runs on both models, on the same people, and each change gets a paired
        interval where there is one.
    search : {"on", "off"}
        on or off. On (the default): if an audit finds no material difference, or a small one, also search for
        a group that the average hides.
    measure : str
        Which measure leads the headline and the report: equal_rates, equal_errors, calibration or amounts. By
        default, the one that differs most.
    gate : mapping or list
        What passes --fail-on gate: how many verdicts of each kind, limits on numbers, and limits on their
        growth. A list is short for its rules.
    """

    data: Any
    audits: Any
    model: Any = None
    threshold: Any = None
    seed: Annotated[int, Field(strict=True, ge=0, le=_MAX_SEED)] = 0
    gate: Any = None
    compare: Any = None
    search: Any = True
    measure: Any = None


def _itself(data: DataSpec) -> dict[str, Any]:
    """Return the model of a spec without one: a numeric outcome is what people got."""
    if data.outcome != "numeric" or data.label is None:
        raise InputError(
            "model", "is missing", advice="write model: {train: logistic}, or where decisions or scores are"
        )
    return {"predictions": {"score": data.label}}


def _with_measure(audits: tuple[AuditRequest, ...], measure: str | None) -> tuple[AuditRequest, ...]:
    """Have the comparison of groups lead with the measure asked for, unless it names one itself."""
    return tuple(
        dataclasses.replace(each, options=dataclasses.replace(each.options, measure=measure))
        if measure is not None and each.name == AUDITS.first and each.options.measure is None
        else each
        for each in audits
    )


_SWITCH = {"on": True, "off": False, True: True, False: False}  # YAML reads off as false


def _comparing(value: Any, first: ModelSpec) -> Comparing:
    """Check the section of a second model: where it comes from, and a threshold of its own."""
    if not isinstance(value, dict) or ("model" in value) == ("treated" in value):
        advice = "write compare: {model: {train: boosting}}, or compare: {treated: {}}"
        raise InputError("compare", "must be a mapping with either model or treated", value, advice)
    unknown = sorted(set(value) - {"model", "threshold", "treated"})
    if unknown:
        advice = "its keys are model or treated, and threshold"
        raise InputError(f"compare.{unknown[0]}", "is no key here", advice=advice)
    given = value.get("threshold")
    threshold = None if given is None else _threshold(given, "compare.threshold")
    if "model" in value:
        model = model_spec(_model_section(value["model"], "compare.model"), "compare.model")
        return Comparing(model, threshold)
    treated = {} if value["treated"] is None else value["treated"]
    if first.train is None:
        advice = "write model: {train: logistic}"
        raise InputError("compare.treated", "needs a first model that is trained here", advice=advice)
    if isinstance(treated, dict) and "also" in treated:
        advice = "leave it out, and name audits under audits"
        raise InputError("compare.treated.also", "belongs to the audit", advice=advice)
    return Comparing(None, threshold, _brief(build(AUDITS.treating.options, treated, "compare.treated")))


def _model_section(value: Any, where: str = "model") -> Any:
    """Return a model's section; raise `InputError` for a text, with what it likely means."""
    if not isinstance(value, str):
        return value
    ours = value_line(value, get_args(Train))
    if ours or value in get_args(Train):
        line = f"{{train: {ours or value}}}"
    elif "://" in value:
        line = f"{{endpoint: {{url: {value}}}}}"
    elif Path(value).suffix:
        line = f"{{path: {value}}}"
    else:
        line = f"{{predictions: {{score: {value}}}}}"
    raise InputError(where, "must be a mapping", value, f"write model: {line}")


def _data(value: Any) -> DataSpec:
    if isinstance(value, str):
        raise InputError("data", "must be a mapping", value, f"write data: {{path: {value}}}")
    data = data_spec(value)
    if not data.path:
        raise InputError("data.path", "is missing", advice="name the file to audit")
    return data


def _threshold(value: Any, where: str = "threshold") -> float | dict[str, dict[str, float]]:
    if not isinstance(value, dict):
        return _number(value, where, "must be a number, or {column: {value: number}}")
    if not value:
        raise InputError(where, "must be a number, or {column: {value: number}}", value)
    thresholds: dict[str, dict[str, float]] = {}
    for column, numbers in value.items():
        here = f"{where}.{column}"
        if not isinstance(numbers, dict) or not numbers:
            raise InputError(here, "must map the column's values to numbers", numbers)
        thresholds[column] = {
            name: _number(number, f"{here}.{name}", "must be a number") for name, number in numbers.items()
        }
    return thresholds


def _number(value: Any, where: str, rule: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(where, rule, value, _as_number(value, where))
    try:
        return float(value)
    except OverflowError:
        raise InputError(where, rule, value) from None


def _as_number(value: Any, where: str) -> str:
    """Return the line for a number that was written as a text or percentage; empty for anything else."""
    try:
        number = float(str(value).rstrip(" %")) / (100 if "%" in str(value) else 1)
    except ValueError:
        return ""
    return f"write {where.split('.')[-1]}: {number:g}" if isinstance(value, str) else ""


def _audits(value: Any) -> tuple[AuditRequest, ...]:
    if not isinstance(value, list) or not value:
        line = "[groups]"
        if isinstance(value, str):
            line = f"[{AUDITS.meant(value) or value}]"
        elif isinstance(value, dict) and value:
            line = "".join(f"- {{{name}: {{…}}}} " if each else f"- {name} " for name, each in value.items())
        raise InputError(
            "audits", "must be a list of at least one audit", value, f"write audits: {line.strip()}"
        )
    return tuple(_audit(item, f"audits[{place}]") for place, item in enumerate(value))


def _audit(value: Any, where: str) -> AuditRequest:
    if isinstance(value, str):  # short for no options
        value = {value: None}
    if not isinstance(value, dict) or len(value) != 1:
        raise InputError(where, "must be one audit with its options, such as {flipset: {…}}", value)
    name, options = next(iter(value.items()))
    if name not in AUDITS and (meant := AUDITS.meant(name)):
        raise InputError(where, "must be the name of an audit", name, f"write {meant}")
    name = one_of(where, AUDITS.now(name), AUDITS, what="the name of an audit")
    return audit_request(name, options, f"{where}.{name}")


def audit_request(name: str, options: Any, where: str) -> AuditRequest:
    """Return an audit asked for by its name in the registry, its options checked; None is no options."""
    return AuditRequest(name, build(AUDITS[name].options, {} if options is None else options, where))


def _dump(value: Any) -> dict[str, Any]:
    return adapter(type(value)).dump_python(value, mode="json", by_alias=True)


def _brief(value: Any) -> dict[str, Any]:
    """Return a dataclass as plain data without the options that are None by default."""
    absent = {item.name for item in dataclasses.fields(value) if item.default is None}
    return {name: item for name, item in _dump(value).items() if item is not None or name not in absent}
