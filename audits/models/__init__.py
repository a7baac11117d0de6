"""Models: the protocol, baselines trained here, ONNX files, prediction columns, and the audit's subject."""

from audits.models.facts import model_facts
from audits.models.making import make_subject, train_model
from audits.models.protocol import Model
from audits.models.spec import ModelSpec, Predictions, model_spec
from audits.models.subject import Subject

__all__ = [
    "Model",
    "ModelSpec",
    "Predictions",
    "Subject",
    "make_subject",
    "model_facts",
    "model_spec",
    "train_model",
]
