"""What only the page of loss ratio needs."""
