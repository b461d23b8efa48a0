"""The tools for those who run a server: metrics, and measurements of requests."""
