from .audit import sensitivity as sensitivity
from .match_sets.sets import MatchSet as MatchSet
from .match_sets.sets import match_set as match_set
from .options import SensitivityOptions as SensitivityOptions
from .result import SensitivityResult as SensitivityResult
