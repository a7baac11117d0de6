"""What sensitivity is held against: people whom a twin, or their other life, decides otherwise."""
