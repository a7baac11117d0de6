"""People with one attribute changed, and texts with terms exchanged."""
