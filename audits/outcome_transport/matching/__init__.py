"""Outcomes coupled with outcomes: one coupling, all that are as good, and those of people drawn again."""
