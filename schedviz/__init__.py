"""Watch a Kubernetes scheduler think: a simulated cluster, live in the browser."""

__version__ = "0.1.0"
