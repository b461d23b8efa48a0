"""Recorded answers of the real scheduler, and whether ours are the same."""
