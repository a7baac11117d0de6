"""Workspaces: what one visitor brings and keeps, who that is, and with whom it is shared."""
