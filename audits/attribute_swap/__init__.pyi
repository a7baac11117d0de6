from .audit import attribute_swap as attribute_swap
from .options import AttributeSwapOptions as AttributeSwapOptions
from .result import AttributeSwapResult as AttributeSwapResult
from .result import SwapRow as SwapRow
