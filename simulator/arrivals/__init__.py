"""Arrivals files: workloads that are played, with the time at which each object is created."""
