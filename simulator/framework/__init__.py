"""The scheduling framework: the plugin interface (interface.py) and the Framework that runs the plugins of a
profile (runtime.py)."""
