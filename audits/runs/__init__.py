"""Specs, how they are run, and where results are saved.

Nothing is imported here: a worker process has to hide its pipes before any library can print.
"""
