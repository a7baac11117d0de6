"""Figures of the sensitivity audit, each drawn from its result."""
