"""The DefaultTolerationSeconds admission plugin: pods stay for some time on a node that is not ready.

Upstream: plugin/pkg/admission/defaulttolerationseconds/admission.go.
"""

from typing import Final

from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.apiserver.kinds.pods.strategy import PODS

UNREACHABLE_SECONDS: Final = 300
"""Seconds for which a pod stays on a node that is not ready or unreachable: the default of kube-apiserver's
--default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds."""
_TAINTS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class DefaultTolerationSeconds(AdmissionPlugin):
    name = "DefaultTolerationSeconds"
    handles = {PODS.id: ("CREATE", "UPDATE")}

    def admit(self, request: Attributes) -> None:
        """Add the tolerations for the taints not-ready and unreachable, unless the pod has its own."""
        tolerations = request.object.setdefault("spec", {}).setdefault("tolerations", [])
        for key in _TAINTS:
            if not any(
                toleration.get("key", "") in (key, "") and toleration.get("effect", "") in ("NoExecute", "")
                for toleration in tolerations
            ):
                tolerations.append(
                    {
                        "key": key,
                        "operator": "Exists",
                        "effect": "NoExecute",
                        "tolerationSeconds": UNREACHABLE_SECONDS,
                    }
                )
