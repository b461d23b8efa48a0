"""Patches of objects: JSON patch, JSON merge patch and strategic merge patch."""
