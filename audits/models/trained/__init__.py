"""Models trained here: baselines for a label, its values or a number, and fair models."""
