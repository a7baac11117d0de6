"""The `model` section of a spec: exactly one way to come by a model, checked in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from audits.checks import build, choices
from audits.errors import InputError
from audits.models.predictions import HigherIs

__all__ = ["PREDICT_LABELS", "ModelSpec", "Predictions", "Train", "check_format", "model_path", "model_spec"]

Train = Literal["logistic", "mlp", "forest", "boosting", "text", "project", "sensr", "reductions"]
PREDICT_LABELS = ("logistic", "mlp", "forest", "boosting")
"""Kinds trained here that can learn the label itself."""

_SKLEARN = (
    "convert it with skl2onnx.to_onnx(model, first_rows, options={'zipmap': False}) and save the .onnx file"
)
_TORCH = "convert it with torch.onnx.export(model, example_input, 'model.onnx')"
_RUNS_CODE = "is refused because loading that format can run code hidden in the file"
_NOT_READ = "is not read: a model file must be ONNX"
_REFUSED: dict[str, tuple[str, str]] = {
    **dict.fromkeys((".pkl", ".pickle", ".joblib", ".dill", ".sav", ".cloudpickle"), (_RUNS_CODE, _SKLEARN)),
    **dict.fromkeys((".pt", ".pth", ".pt2", ".ckpt", ".torchscript", ".ptl"), (_RUNS_CODE, _TORCH)),
    **dict.fromkeys(
        (".h5", ".keras", ".pb"),
        (_RUNS_CODE, "convert it with tf2onnx: python -m tf2onnx.convert --output model.onnx"),
    ),
    ".skops": (_NOT_READ, _SKLEARN),
    ".json": (
        _NOT_READ,
        "convert an XGBoost model with onnxmltools.convert_xgboost(model) and save the .onnx file",
    ),
    ".ubj": (
        _NOT_READ,
        "convert an XGBoost model with onnxmltools.convert_xgboost(model) and save the .onnx file",
    ),
    ".safetensors": (_NOT_READ, f"weights alone are no model; load them in torch and {_TORCH}"),
}
_MLFLOW = ("is an MLflow artefact, refused because loading it can run code hidden in its pickles", _SKLEARN)


@dataclass(frozen=True)
class Predictions:
    """A column of the data that holds scores or predicted labels.

    Attributes
    ----------
    score, label : str or None
        The column; exactly one of the two.
    higher_is : {"favorable", "unfavorable"}
        Whether a higher score is better or worse for the person. For a risk score, where it is
        worse, people below the threshold get the favourable decision; at the threshold they do not.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    score: str | None = None
    label: str | None = None
    higher_is: HigherIs = "favorable"


@dataclass(frozen=True)
class ModelSpec:
    """Where the model comes from: exactly one of `train`, `path` and `predictions`.

    Attributes
    ----------
    train : {"logistic", "mlp", "forest", "boosting", "text", "project", "sensr",
            "reductions"} or None
        Train this kind here, on a part of the data; the audits use the rest. "text" learns from the words
        of the one text column among the features. The last three are fair baselines, which use the
        protected attributes in training and never in scoring unless they are features.
    path : str or None
        An ``.onnx`` file, relative to the spec file.
    predictions : Predictions or None
        A column of the data.
    endpoint : mapping or None
        Always refused: scores of a service come as a predictions column.
    classes : tuple or None
        Label values in the order of a file's outputs, where the file does not say or says it wrong.
    predict : {"label"} or None
        What a model trained here learns, or a file gives: by default whether the outcome is favourable;
        ``"label"`` is the label itself, each of its values where there are more than two, or the number
        that `data.label` cuts.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    train: Train | None = None
    path: str | None = None
    predictions: Predictions | None = None
    endpoint: Mapping[str, Any] | str | None = None
    classes: tuple[bool | int | float | str, ...] | None = None
    predict: Literal["label"] | None = None

    def check(self, where: str = "model") -> None:
        """Raise `InputError` unless exactly one source is given, and one that can be used."""
        sources = ("train", "path", "predictions", "endpoint")
        given = [name for name in sources if getattr(self, name) is not None]
        if len(given) != 1:
            advice = f"give one of {choices(sources[:3])}"
            found = f"has {' and '.join(given)}" if given else "has none"
            raise InputError(
                where, f"must say in exactly one way where the model comes from, but {found}", advice=advice
            )
        if self.endpoint is not None:
            raise InputError(
                f"{where}.endpoint",
                "is not called: no request leaves this machine",
                advice="score people with the service and bring its scores as predictions: {score: column}",
            )
        if self.classes is not None and self.path is None:
            raise InputError(f"{where}.classes", "has a meaning for a model file only", advice="leave it out")
        if self.predict is not None and self.train not in {None, *PREDICT_LABELS}:
            raise InputError(
                f"{where}.predict",
                f"is for {choices(PREDICT_LABELS)} and model files; {self.train!r} learns favourable or not",
                advice="leave it out",
            )
        if self.predict is not None and self.predictions is not None:
            raise InputError(
                f"{where}.predict", "has no meaning for a column of predictions", advice="leave it out"
            )
        if self.path is not None and (Path(self.path).suffix or _is_mlflow(self.path)):
            check_format(self.path, f"{where}.path")
        if self.predictions is not None:
            _check_predictions(self.predictions, f"{where}.predictions")


def model_spec(section: Mapping[str, Any], where: str = "model") -> ModelSpec:
    """Build and check a `ModelSpec` from a spec's plain `model` section.

    Raises
    ------
    InputError
        For the first key or value at fault, or unless exactly one usable source is given.

    Examples
    --------
    >>> model_spec({"predictions": {"score": "decile_score", "higher_is": "unfavorable"}}).predictions.score
    'decile_score'
    """
    made = section
    if isinstance(section, Mapping) and isinstance(section.get("predictions"), Mapping):
        # built first, so that a message names the key inside it
        predictions = build(Predictions, section["predictions"], f"{where}.predictions")
        made = {**section, "predictions": predictions}
    spec = build(ModelSpec, made, where)
    spec.check(where)
    return spec


def _check_predictions(predictions: Predictions, where: str) -> None:
    if (predictions.score is None) == (predictions.label is None):
        raise InputError(where, "must name exactly one column, as {score: column} or {label: column}")
    if predictions.label is not None and predictions.higher_is != "favorable":
        raise InputError(f"{where}.higher_is", "has a meaning for scores only", advice="leave it out")


def check_format(path: str, where: str) -> None:
    """Raise `InputError` unless the file's name ends in ``.onnx``: the reason, and how to convert."""
    suffix = Path(path).suffix.lower()
    if suffix == ".onnx":
        return
    reason, advice = _REFUSED.get(suffix, ("must name an .onnx file", "convert the model to ONNX"))
    if _is_mlflow(path):
        reason, advice = _MLFLOW
    raise InputError(where, reason, path, advice)


def _is_mlflow(path: str) -> bool:
    return path.endswith(("MLmodel", ".mlmodel")) or path.startswith(("models:/", "runs:/"))


def model_path(path: str, base_dir: Path, where: str = "model.path") -> Path:
    """Return the model file that `path`, relative to `base_dir`, names.

    Raises
    ------
    InputError
        If it is no ONNX file or does not exist.
    """
    found = base_dir / path
    if found.is_dir() and (found / "MLmodel").exists():
        raise InputError(where, _MLFLOW[0], path, _MLFLOW[1])
    check_format(path, where)
    if not found.is_file():
        raise InputError(
            where, "must name an existing file", path, f"relative names are looked up in {base_dir}"
        )
    return found
