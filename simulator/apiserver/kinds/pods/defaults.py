"""Defaults of pods, beyond those of their templates.

Upstream: SetDefaults_Pod in pkg/apis/core/v1/defaults.go and conversion.go beside it, v1.34."""

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.spec_defaults import all_containers, set_pod_spec_defaults
from simulator.apiserver.resource_lists import round_up_to_milli
from simulator.objects import quantity
from simulator.objects.pod_requests import pod_requests, supported_at_pod_level


def set_pod_defaults(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    set_pod_spec_defaults(spec)
    spec.setdefault("enableServiceLinks", True)
    for container in all_containers(spec):
        if spec.get("hostNetwork"):
            for port in container.get("ports", ()):
                port.setdefault("hostPort", port["containerPort"])
        _set_requests_from_limits(container["resources"])
    _set_pod_level_requests(manifest)
    spec.setdefault("tolerations", [])  # which DefaultTolerationSeconds completes


def _set_requests_from_limits(resources: Manifest | None) -> None:
    if not resources:
        return
    for kind in ("limits", "requests"):
        if kind in resources:
            resources[kind] = round_up_to_milli(resources[kind])
    if resources.get("limits"):
        resources["requests"] = resources["limits"] | resources.get("requests", {})


def _set_pod_level_requests(manifest: Manifest) -> None:
    """Set the pod-level requests of a pod with pod-level limits: the sum of its containers' requests where
    they have any, otherwise the limits (defaultPodRequests)."""
    resources = manifest["spec"].get("resources", {})
    limits = resources.get("limits", {})
    if not limits:
        return
    stated = resources.setdefault("requests", {})
    without = {**manifest, "spec": {**manifest["spec"], "resources": {}, "overhead": {}}}
    for name, nanos in pod_requests(without, use_status=False).items():
        if name in ("cpu", "memory") and name not in stated:
            stated[name] = _quantity_text(nanos)
    for name, text in limits.items():
        if supported_at_pod_level(name):
            stated.setdefault(name, text)


def _quantity_text(nanos: quantity.Nanos) -> str:
    whole, fraction = divmod(nanos, quantity.NANO)
    return str(whole) if not fraction else f"{quantity.milli_value(nanos)}m"


def match_pod_ips(status: Manifest) -> None:
    """Set ``podIP``, which old clients read: the first of ``podIPs``."""
    first, known = status.get("podIP", ""), status.get("podIPs") or []
    if first and (not known or known[0].get("ip", "") != first):
        status["podIPs"] = [{"ip": first}]
    elif known:
        status["podIP"] = known[0].get("ip", "")
