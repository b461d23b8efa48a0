"""Finds the resource of objects that a sandbox has, by the version of Kubernetes that it serves."""

from schedviz.store import Sandbox
from schedviz.store.past import Readable
from simulator.apiserver.lookup import find_resource
from simulator.apiserver.resource import Resource
from simulator.apiserver.served_features import serving


def find_stored(sandbox: Sandbox | Readable, name: str) -> Resource | None:
    """Return the resource ``<plural>.<group>``; None if the sandbox has none of this name."""
    plural, _, group = name.partition(".")
    with serving(sandbox.meta().features()):
        return find_resource(sandbox, group, plural)
