"""The downloads of a sandbox."""
