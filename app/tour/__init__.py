"""What only the guided demo needs."""
