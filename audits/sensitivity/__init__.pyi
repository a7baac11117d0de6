from .audit import sensitivity as sensitivity
from .matching.sets import MatchSet as MatchSet
from .matching.sets import match_set as match_set
from .monitor.bundle import MonitorBundle as MonitorBundle
from .monitor.bundle import Scored as Scored
from .options import SensitivityOptions as SensitivityOptions
from .result import SensitivityResult as SensitivityResult
