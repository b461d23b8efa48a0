"""The DefaultStorageClass admission plugin.

Upstream: plugin/pkg/admission/storage/storageclass/setdefault/admission.go.
"""

from collections.abc import Iterable
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.objects.metadata import annotations_of

_DEFAULT_STORAGE: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


class DefaultStorageClass(AdmissionPlugin):
    name = "DefaultStorageClass"
    handles = {"persistentvolumeclaims": ("CREATE",)}

    def admit(self, request: Attributes) -> None:
        spec = request.object["spec"]
        if "storageClassName" not in spec:
            default = default_class(request.overlay.list("storageclasses.storage.k8s.io"))
            if default is not None:
                spec["storageClassName"] = default


def default_class(classes: Iterable[Manifest]) -> str | None:
    """Return the name of the newest default class; of several, the first by name."""
    defaults = [
        item["metadata"]
        for item in classes
        if any(annotations_of(item).get(each) == "true" for each in _DEFAULT_STORAGE)
    ]
    by_name = sorted(defaults, key=lambda metadata: str(metadata["name"]))
    newest = max(by_name, key=lambda metadata: str(metadata.get("creationTimestamp", "")), default=None)
    return None if newest is None else str(newest["name"])
