"""Devices and resource claims, and why a node's devices serve a claim or not."""
