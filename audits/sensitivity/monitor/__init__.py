"""Bundles that a deployed monitor measures people with, and what a monitor shows."""
