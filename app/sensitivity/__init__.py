"""What only the page of sensitivity needs."""
