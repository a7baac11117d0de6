from .audit import barycenter as barycenter
from .options import BarycenterOptions as BarycenterOptions
from .result import BarycenterResult as BarycenterResult
from .result import GroupFlips as GroupFlips
from .result import GroupMarginal as GroupMarginal
