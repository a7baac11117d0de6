from .actions import GERMAN_ROLES as GERMAN_ROLES
from .audit import recourse as recourse
from .options import Limit as Limit
from .options import RecourseOptions as RecourseOptions
from .result import AlphaRow as AlphaRow
from .result import Change as Change
from .result import GroupRecourse as GroupRecourse
from .result import RecourseResult as RecourseResult
