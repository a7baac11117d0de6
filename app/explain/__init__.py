"""What only the page of explain needs."""
