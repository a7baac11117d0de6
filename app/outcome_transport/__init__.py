"""What only the page of outcome transport needs."""
