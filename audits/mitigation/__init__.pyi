from .audit import mitigation as mitigation
from .options import MitigationOptions as MitigationOptions
from .result import NOT_RUN as NOT_RUN
from .result import Headline as Headline
from .result import MitigationResult as MitigationResult
from .result import Step as Step
