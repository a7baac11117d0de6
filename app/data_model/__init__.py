"""What only the page of data model needs."""
