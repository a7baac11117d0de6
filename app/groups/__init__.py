"""What only the page of groups needs."""
