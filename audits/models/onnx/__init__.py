"""ONNX files: what they may contain, how columns feed them, what they return, and their gradients."""
