from .factory import make_subject as make_subject
from .factory import train_model as train_model
from .metadata import model_facts as model_facts
from .protocol import Model as Model
from .spec import ModelSpec as ModelSpec
from .spec import Predictions as Predictions
from .spec import model_spec as model_spec
from .subject import Subject as Subject
