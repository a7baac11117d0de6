from .audit import sensitivity as sensitivity
from .matching.sets import MatchSet as MatchSet
from .matching.sets import match_set as match_set
from .options import SensitivityOptions as SensitivityOptions
from .result import SensitivityResult as SensitivityResult
