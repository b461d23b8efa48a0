"""Comparison of two schedulers that run the same workload."""
