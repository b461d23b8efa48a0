"""Simulated time: an agenda of entries, and processes that run on it, after the manner of SimPy.

Read ``environment.py`` first. Only Turn, Point and the limits' reasons know that this is Kubernetes; what a
process writes, the environment's subclass knows (:mod:`simulator.client.world`)."""
