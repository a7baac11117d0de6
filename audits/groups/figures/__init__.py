"""Figures of the groups audit, each drawn from its result."""
