from .audit import sensitivity as sensitivity
from .audit import sensitivity_audit as sensitivity_audit
from .bundle import MonitorBundle as MonitorBundle
from .bundle import Scored as Scored
from .matching import MatchSet as MatchSet
from .matching import match_set as match_set
from .options import SensitivityOptions as SensitivityOptions
from .result import SensitivityResult as SensitivityResult
