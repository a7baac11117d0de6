"""A run's table: fetched from elsewhere, looked into, drawn from, or counted batch by batch if large."""
