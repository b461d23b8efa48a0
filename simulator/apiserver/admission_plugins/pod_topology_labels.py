"""The PodTopologyLabels admission plugin: a pod gets the zone and the region of its node as labels.

Upstream: plugin/pkg/admission/podtopologylabels/admission.go, with the feature gate
PodTopologyLabelsAdmission. BindingREST copies the labels of a Binding to the pod
(:func:`simulator.apiserver.pod_subresources.admit_binding`).
"""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.apiserver.kinds.nodes import NODE_STRATEGY
from simulator.apiserver.kinds.pods.strategy import PODS
from simulator.apiserver.served_features import enabled
from simulator.objects.metadata import labels_of

TOPOLOGY_LABELS_GATE: Final = "PodTopologyLabelsAdmission"
_LABELS: Final = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


class PodTopologyLabels(AdmissionPlugin):
    name = "PodTopologyLabels"
    handles = {PODS.id: ("CREATE",)}

    def admit(self, request: Attributes) -> None:
        node = request.object["spec"].get("nodeName")
        if not node or not enabled(TOPOLOGY_LABELS_GATE):
            return
        found = topology_labels(request.overlay.get(NODE_STRATEGY.resource.id, node))
        if found:
            metadata = request.object["metadata"]
            metadata["labels"] = labels_of(request.object) | found


def topology_labels(node: Manifest | None) -> dict[str, str]:
    """Return what a pod on the node gets; nothing if there is no such node."""
    labels = {} if node is None else labels_of(node)
    return {key: labels[key] for key in _LABELS if key in labels}
