"""What the server does beside the pages: the HTTP API, its limits, headers and logs, and what it sees to."""
