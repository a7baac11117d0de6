from .audit import mitigation_audit as mitigation_audit
from .options import MitigationOptions as MitigationOptions
from .result import NOT_RUN as NOT_RUN
from .result import Headline as Headline
from .result import MitigationResult as MitigationResult
from .result import Step as Step
