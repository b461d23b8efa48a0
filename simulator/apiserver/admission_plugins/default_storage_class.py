"""The DefaultStorageClass admission plugin.

Upstream: plugin/pkg/admission/storage/storageclass/setdefault/admission.go.
"""

from typing import Final

from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.apiserver.overlay import Overlay
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
            default = _default_class(request.overlay)
            if default is not None:
                spec["storageClassName"] = default


def _default_class(overlay: Overlay) -> str | None:
    """Return the name of the newest default class; of several, the first by name."""
    defaults = [
        item["metadata"]
        for item in overlay.list("storageclasses.storage.k8s.io")
        if any(annotations_of(item).get(each) == "true" for each in _DEFAULT_STORAGE)
    ]
    by_name = sorted(defaults, key=lambda metadata: str(metadata["name"]))
    newest = max(by_name, key=lambda metadata: str(metadata["creationTimestamp"]), default=None)
    return None if newest is None else str(newest["name"])
