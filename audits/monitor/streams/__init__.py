"""The months of bundled examples that Monitor shows, as files; see `audits.monitor.example_stream`."""
