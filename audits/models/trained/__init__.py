"""Models trained here: baselines of a label, of its values or a number, and those made to be fair."""
