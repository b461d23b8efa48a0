"""Comparisons: the same workload under two schedulers."""
