"""Figures of the flipset audit, each drawn from its result."""
