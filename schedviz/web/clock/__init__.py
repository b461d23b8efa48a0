"""The clock of a sandbox and its controls."""
