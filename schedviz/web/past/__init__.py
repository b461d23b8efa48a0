"""The timeline, and what leads to the past: going back, undoing, branching."""
