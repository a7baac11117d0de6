from .audit import barycentre as barycentre
from .options import BarycentreOptions as BarycentreOptions
from .result import BarycentreResult as BarycentreResult
from .result import GroupFlips as GroupFlips
from .result import MarginalRow as MarginalRow
