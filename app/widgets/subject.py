"""One line that says what is being audited."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from app.tables.summary import Summary
from audits.stats.text import count
from audits.stats.vocabulary import vocabulary

TRAINED = {
    "logistic": "logistic regression",
    "mlp": "neural network",
    "forest": "random forest",
    "boosting": "gradient boosting",
    "text": "logistic regression on words",
    "project": "network on projected features (fair)",
    "sensr": "SenSR network (fair)",
    "reductions": "reductions mixture (fair)",
}


def source_name(draft: Mapping[str, Any]) -> str:
    """Return the name of the data."""
    return str(draft["source"]["name"])


def model_words(model: Mapping[str, Any], *, number: bool = False) -> str:
    """Return in words where the model comes from; `number` tells that its label is cut from a number."""
    if "train" in model:
        if "predict" in model and number and model["train"] == "logistic":
            return "linear regression"
        return TRAINED.get(model["train"], str(model["train"]))
    if "path" in model:
        return f"model {PurePosixPath(model['path']).name}"
    if "endpoint" in model:
        return f"endpoint {str(model['endpoint'].get('url', '')).split('://')[-1] or 'without address'}"
    columns = model.get("predictions") or {}
    if "score" in columns:
        return f"score in {columns['score']}"
    return f"decisions in {columns.get('label') or 'a column'}"


def subject_line(draft: Mapping[str, Any], summary: Summary | None = None) -> str:
    """Return data, model and people: ``compas.csv · logistic regression · 6,172 people``."""
    data, model = draft["spec"]["data"], draft["spec"]["model"]
    numeric = data.get("outcome") == "numeric"
    number = isinstance(data.get("label"), dict) or numeric
    itself = numeric and (model.get("predictions") or {}).get("score") == data.get("label")
    parts = [source_name(draft), str(data["label"]) if itself else model_words(model, number=number)]
    if summary is not None:
        people = f"{count(summary.people)} {vocabulary().people}"
        if "train" in draft["spec"]["model"]:
            share = float(draft["spec"]["data"].get("test_size", 0.3))
            people = f"{people}, about {count(share * summary.people)} held out"
        parts.append(people)
    return " · ".join(parts)
