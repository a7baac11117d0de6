"""What only the page of mitigation needs."""
