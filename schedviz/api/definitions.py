"""Establishes CustomResourceDefinitions: accepts their names, as controllers in kube-apiserver do at once.

Upstream: naming_controller.go and establishing_controller.go in apiextensions-apiserver/pkg/controller,
v1.34.
"""

from simulator.api import Manifest
from simulator.apiserver.resources import Resource


def established(_: Resource, definition: Manifest) -> Manifest:
    """Return a new definition with the status of one whose names are accepted."""
    now = definition["metadata"]["creationTimestamp"]
    conditions = [
        {
            "type": "NamesAccepted",
            "status": "True",
            "lastTransitionTime": now,
            "reason": "NoConflicts",
            "message": "no conflicts found",
        },
        {
            "type": "Established",
            "status": "True",
            "lastTransitionTime": now,
            "reason": "InitialNamesAccepted",
            "message": "the initial names have been accepted",
        },
    ]
    status = {**definition.get("status", {}), "conditions": conditions}
    return {**definition, "status": {**status, "acceptedNames": definition["spec"]["names"]}}
