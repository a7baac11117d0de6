"""Figures of the rule set audit, each drawn from its result."""
