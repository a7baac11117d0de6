"""Who flips and how they differ, and the same people compared otherwise."""
