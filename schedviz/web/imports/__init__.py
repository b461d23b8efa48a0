"""Sandboxes from dumps and recordings of real clusters."""
