"""Comparison with recorded answers of the real scheduler."""
