"""Who is compared, with whom or with what a map makes of them, and how far that can be relied on."""
