"""The scheduling queue: its lanes, and the pending pods with their causes."""
