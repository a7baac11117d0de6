"""ONNX files: what they may hold, how columns feed them, what they give, and their gradients."""
