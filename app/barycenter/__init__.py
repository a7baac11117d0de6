"""What only the page of all groups at once needs."""
