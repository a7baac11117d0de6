"""Models: the protocol, baselines trained here, ONNX files, prediction columns, and the audit's subject."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
