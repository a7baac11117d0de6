"""What only the page of flipset needs."""
