"""Simulated time: an agenda of entries, and processes that run on it, after the manner of SimPy.

Read ``environment.py`` first. Only Turn, Point and the limits' reasons are about Kubernetes; the writes of a
process are handled by the environment's subclass (:mod:`simulator.client.world`)."""
