from .audit import explain as explain
from .options import ExplainOptions as ExplainOptions
from .result import Explained as Explained
from .result import ExplainResult as ExplainResult
from .result import LevelRow as LevelRow
from .result import Overlap as Overlap
from .result import ValueRow as ValueRow
