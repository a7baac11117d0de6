"""What lies in a home folder and its database: runs, saved audits, audit log; taken along, and taken out."""
