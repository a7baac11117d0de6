"""Where runs execute: in this process, in workers or on a cluster, and within which limits.

Nothing is imported here: a worker process has to hide its pipes before any library can print.
"""
