"""What sensitivity is compared with: people whom a twin, or their other life, decides otherwise."""
