"""What only the page of recourse needs."""
