"""The order in which the parts of an updated object are validated, by kind.

Some parts are validated more than once, and a fault is a cause as often as it is found. Upstream:
BeforeUpdate in apiserver/pkg/registry/rest/update.go, ValidateUpdate of the strategies in pkg/registry and
the Validate...Update functions that they call, v1.34.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.metadata_update import validate_metadata_update
from simulator.apiserver.object_meta_validation import validate_finalizers, validate_object_meta
from simulator.apiserver.resources import BUILT_IN_GROUPS, CRDS, Resource
from simulator.apiserver.status import Cause, first_causes
from simulator.apiserver.update_validation import validate_update
from simulator.apiserver.validation import kind_faults

_DEFAULT: Final = "MSUC"
_OF_STATUS: Final = "UC"
_OF_CUSTOM: Final = "US"
_ORDERS: Final = {
    "cronjobs.batch": "US",
    "csidrivers.storage.k8s.io": "MSUSC",
    "csinodes.storage.k8s.io": "MSMSC",
    CRDS: "UC",
    "daemonsets.apps": "USC",
    "deployments.apps": "USC",
    "events": "C",
    "jobs.batch": "MSUSC",
    "leases.coordination.k8s.io": "US",
    "limitranges": "MS",
    "persistentvolumeclaims": "MSUMSC",
    "persistentvolumes": "MSMSC",
    "poddisruptionbudgets.policy": "S",
    "pods": "UMSC",
    "podtemplates": "US",
    "priorityclasses.scheduling.k8s.io": "UC",
    "replicasets.apps": "USC",
    "replicationcontrollers": "MSUS",
    "resourcequotas": "USC",
    "deviceclasses.resource.k8s.io": "MSUS",
    "resourceclaims.resource.k8s.io": "MSUCS",
    "resourceclaimtemplates.resource.k8s.io": "MSUCS",
    "resourceslices.resource.k8s.io": "USC",
    "serviceaccounts": "UM",
    "services": "UCS",
    "statefulsets.apps": "USC",
    "volumeattachments.storage.k8s.io": "MSMSC",
    "volumeattributesclasses.storage.k8s.io": "MSUCMS",
}
"""Id of a resource -> the order of the checks: M its metadata, S the rest of the object (mostly its spec), U
the update's changes of the metadata, C those of the rest. Other resources have the default."""


def validate_updated(
    resource: Resource, new: Manifest, old: Manifest, given: dict[str, Any], subresource: str = ""
) -> list[Cause]:
    """Return the faults of an object as an update would store it. ``given``: its metadata as it was sent."""
    metadata = new["metadata"]
    parts: dict[str, Callable[[], Iterator[Cause] | list[Cause]]] = {
        "m": lambda: validate_object_meta(resource, metadata, is_new=False),
        "S": lambda: kind_faults(resource, new, old),
        "u": lambda: validate_metadata_update(given, old),
        "C": lambda: validate_update(resource, new, old, subresource),
        "f": lambda: validate_finalizers(resource, metadata),
    }
    # The metadata of all kinds is validated before what is special to the kind.
    order = _order(resource, subresource).replace("M", "mf").replace("U", "uf")
    return first_causes(cause for part in f"mu{order}" for cause in parts[part]())


def _order(resource: Resource, subresource: str) -> str:
    if resource.group not in BUILT_IN_GROUPS:
        return _OF_CUSTOM
    if subresource in ("status", "approval", "finalize"):
        return _OF_STATUS
    return _ORDERS.get(resource.id, _DEFAULT)
