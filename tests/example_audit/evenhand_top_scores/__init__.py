"""An audit of who is among the people with the best scores."""
