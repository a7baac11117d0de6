"""``mlflow.models.evaluate(…, evaluators="evenhand")``: MLflow's entry point to an audit."""

from __future__ import annotations

import contextlib
from typing import Any

import mlflow
from mlflow.models.evaluation.base import EvaluationResult, ModelEvaluator

from audits.connect import log_to_mlflow
from audits.errors import InputError
from audits.notebook import audit

_SAYS = {"protected", "favorable", "audits", "features", "weights", "person", "threshold", "seed", "made"}


class Evaluator(ModelEvaluator):
    """Runs ``evenhand.audit`` on MLflow's data set; ``evaluator_config`` holds its arguments."""

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: dict[str, Any] | None, **_: Any) -> bool:
        """Whoever says which groups to compare can have them compared."""
        return model_type in {"classifier", "regressor", None} and "protected" in (evaluator_config or {})

    def evaluate(
        self,
        *,
        dataset: Any,
        run_id: str,
        evaluator_config: dict[str, Any] | None,
        model: Any = None,
        **_: Any,
    ) -> EvaluationResult:
        """Audit, log to the run, and return verdicts as metrics."""
        config = dict(evaluator_config or {})
        unknown = sorted(set(config) - _SAYS)
        if unknown:
            raise InputError("evaluator_config", f"must hold only {', '.join(sorted(_SAYS))}", unknown[0])
        people = dataset.features_data
        decided = {} if model is not None else {"predictions": dataset.predictions_data}
        asked = None if model is None else model.predict
        found = audit(asked, people, dataset.labels_data, **decided, **config)
        active = mlflow.active_run()
        inside = active is not None and active.info.run_id == run_id
        with contextlib.nullcontext() if inside else mlflow.start_run(run_id=run_id, nested=True):
            log_to_mlflow(found)
        values = {each.name: each.to_json()["interval"]["value"] for each in found.audits}
        return EvaluationResult(
            metrics={f"evenhand.{name}": value for name, value in values.items() if value is not None},
            artifacts={},
            run_id=run_id,
        )
