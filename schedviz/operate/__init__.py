"""For those who run a server: the metrics, and what is measured of requests."""
