"""The arithmetic of a score, written out with its numbers: one function for each score plugin."""

from schedviz.web.explain.arithmetic import Arithmetic, arithmetic

__all__ = ["Arithmetic", "arithmetic"]
