"""Judges the decisions of a real scheduler, as its writes show them, by the model's own attempts."""
