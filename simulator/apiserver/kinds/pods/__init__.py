"""Pods, and the parts of them that pod templates have."""
