"""What only the page of monitor needs."""
