"""The home folder and its database: runs, saved audits, audit log, backup and erasure."""
