"""What is still wrong with a draft, and beside which part of the page to say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from app import jobs
from app.tables.summary import Summary
from app.widgets import notices
from app.widgets.waiting import data_of, wait_for
from app.workspaces.workspace import Workspace
from audits.errors import InputError
from audits.models import model_spec
from audits.models.inspection import ModelReport

_PLACES = {
    "outcome": ("data.label", "data.favorable", "data.weights", "label", "favorable", "weights", "The label"),
    "rows": ("data.keep", "keep", "data.among", "data.missing", "data.recode"),
    "model": ("model", "The model", "threshold", "seed", "data.test_size"),
    "columns": (
        "data.protected",
        "data.bins",
        "data.kinds",
        "data.roles",
        "data.features",
        "data.orders",
        "column",
        "The audit",
    ),
}
_DOING = {
    "path": "Opening the model",
    "endpoint": "Asking the service",
    "predictions": "Checking the predictions",
}


@dataclass
class Problems:
    """Sentences by the part of the page they belong to; the data, and a model brought along, if right.

    `inputs` counts the features, a column of predictions aside.
    """

    summary: Summary | None = None
    model: ModelReport | None = None
    inputs: int = 0
    sentences: dict[str, list[str]] = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        """Whether an audit can run."""
        return self.summary is not None and not self.sentences

    def show(self, place: str) -> None:
        """Write what belongs to `place`."""
        for sentence in self.sentences.get(place, ()):
            notices.problem(sentence)

    def add(self, error: InputError, place: str = "") -> None:
        """Sort an error to its place, unless it is known."""
        place = place or next(
            (name for name, keys in _PLACES.items() if error.where.startswith(keys)), "rest"
        )
        self.sentences.setdefault(place, []).append(str(error))


def problems(space: Workspace, draft: Mapping[str, Any]) -> Problems:
    """Check a draft: prepare its data, look at its model section, and at what an audit needs besides."""
    found = Problems()
    spec = draft["spec"]
    try:
        found.summary = data_of(space, spec, "the data")[1]
    except InputError as error:
        found.add(error)
    try:
        model = model_spec(whole_model(spec["model"]))
        if model.endpoint is not None:
            model.endpoint.check_host()
    except InputError as error:
        found.add(error)
    if found.summary is not None:
        predicted = (spec["model"].get("predictions") or {}).values()
        found.inputs = len(set(found.summary.features) - set(predicted))
        for missing in _missing_parts(spec, found.summary):
            found.add(missing)
    chosen = next((way for way in _DOING if spec["model"].get(way)), None)
    if chosen is not None and found.ready:
        try:
            found.model = wait_for(jobs.model(space, spec), _DOING[chosen])
        except InputError as error:
            found.add(error, "model")
    return found


def whole_model(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model section, or say what is still to be chosen."""
    if model.get("path") == "":
        raise InputError("model", "needs a model file", advice="choose one")
    if model.get("predictions") == {}:
        raise InputError("model", "needs the column that holds the predictions", advice="choose one")
    if model.get("endpoint") == {}:
        raise InputError("model", "needs the address of the endpoint", advice="enter it")
    return dict(model)


def _missing_parts(spec: Mapping[str, Any], summary: Summary) -> Iterator[InputError]:
    data, model = spec["data"], spec["model"]
    if not summary.groups and "text" not in summary.kinds.values():  # rules can be made of what texts say
        advice = "tick at least one column as protected"
        yield InputError("The audit", "needs a protected attribute", advice=advice)
    if data.get("outcome") == "numeric" and data.get("favorable") is None:
        yield InputError("data.favorable", "is missing", advice="say whether high or low numbers are good")
    if not summary.features and "predictions" not in model:
        yield InputError("The audit", "needs a feature", advice="tick at least one column as a feature")
    read = [name for name in summary.features if summary.kinds[name] == "text"]
    if model.get("train") == "text" and len(read) != 1:
        rule = f"learns from one column of text, but the features hold {len(read)}"
        yield InputError("The model", rule, advice="tick exactly one feature, of kind text")
    threshold = spec.get("threshold", 0.5)
    if "predictions" not in model and not isinstance(threshold, dict) and not 0 <= threshold <= 1:
        yield InputError("threshold", "must lie in [0, 1], as the model gives probabilities", threshold)
    learns = summary.label is not None or (data.get("outcome") and data.get("label"))
    if "train" in model and not learns:
        yield InputError("The label", "is missing", advice="choose the outcome that the model learns")
