"""A run's table: fetched from elsewhere, previewed, sampled, or counted batch by batch if large."""
