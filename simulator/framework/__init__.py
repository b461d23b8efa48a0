"""The scheduling framework: what plugins are (interface), and how a profile runs them (runtime)."""
