"""Where runs are carried out: in this process, in workers or on a cluster; and what keeps those in bounds.

Nothing is imported here: a worker process has to hide its pipes before any library can print.
"""
