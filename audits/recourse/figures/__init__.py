"""Figures of the recourse audit, each drawn from its result."""
