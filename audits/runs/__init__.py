"""Specs, how they are carried out, and where results lie.

Nothing is imported here: a worker process has to hide its pipes before any library can print.
"""
