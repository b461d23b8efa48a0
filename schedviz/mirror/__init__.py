"""Mirrors: sandboxes that follow a real cluster, read-only. One process for each (``schedviz mirror``)."""
