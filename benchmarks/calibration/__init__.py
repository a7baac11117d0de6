"""Does every interval, test and verdict that a page shows hold what it says? See `harness`."""
