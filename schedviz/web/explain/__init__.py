"""The arithmetic of a score, as formulas with their numbers."""

from schedviz.web.explain.arithmetic import Arithmetic, arithmetic

__all__ = ["Arithmetic", "arithmetic"]
