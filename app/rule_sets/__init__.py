"""What only the page of rule sets needs."""
