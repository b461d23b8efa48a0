"""Explanations and suggestions: the smallest changes that let a pending pod run, why a bound pod was placed
on its node, and what would have prevented an eviction. Every suggestion has been tried on the simulator."""
