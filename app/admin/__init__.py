"""What only the page of the server needs."""
