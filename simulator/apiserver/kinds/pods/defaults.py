"""Defaults of pods, and of the specs in pod templates.

Upstream: SetDefaults_Pod, SetDefaults_PodSpec, SetDefaults_Container and what zz_generated.defaults.go calls
for their parts, in pkg/apis/core/v1/defaults.go and conversion.go beside it.

A pod's template and its pods are written by the thousand: nothing here looks at a field that is not there."""

import re
from functools import lru_cache

from simulator.api import Manifest
from simulator.apiserver.amounts import round_up_to_milli
from simulator.apiserver.kinds.volumes.source_defaults import FIELD_API_VERSION, set_volume_defaults
from simulator.objects import quantity
from simulator.objects.pod import GRACE_SECONDS
from simulator.objects.pod_requests import pod_requests, supported_at_pod_level

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_KNOWN_IMAGES = 1_024
"""Images whose policy is remembered; a cluster has some dozens."""

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_DOMAIN = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_IMAGE = re.compile(
    rf"(?:{_DOMAIN}/)?{_COMPONENT}(?:/{_COMPONENT})*(?::(?P<tag>\w[\w.-]{{0,127}}))?"
    r"(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)
"""An image's reference (github.com/distribution/reference)."""


def set_pod_spec_defaults(spec: Manifest) -> None:
    """Set the defaults in place."""
    # Validation refuses an empty list.
    spec.setdefault("containers", [])
    if "serviceAccountName" in spec or "serviceAccount" in spec:
        # The old name of the field is kept for old clients (conversion.go of core/v1).
        account = spec.get("serviceAccountName") or spec["serviceAccount"]
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    if spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    spec.setdefault("schedulerName", "default-scheduler")
    for container in all_containers(spec):
        _set_container_defaults(container)
    if "ephemeralContainers" in spec:
        for container in spec["ephemeralContainers"]:
            _set_container_defaults(container)
    if "volumes" in spec:
        for volume in spec["volumes"]:
            set_volume_defaults(volume)
            if "image" in volume and not volume["image"].get("pullPolicy"):
                volume["image"]["pullPolicy"] = pull_policy(volume["image"].get("reference", ""))


def all_containers(spec: Manifest) -> list[Manifest]:
    return [*spec.get("initContainers", ()), *spec.get("containers", ())]


def _set_container_defaults(container: Manifest) -> None:
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    if "ports" in container:
        for port in container["ports"]:
            port.setdefault("protocol", "TCP")
    if "env" in container:
        for variable in container["env"]:
            _set_variable_defaults(variable)
    for kind in _PROBES:
        if kind in container:
            _set_probe_defaults(container[kind])
    if "lifecycle" in container:
        for handler in container["lifecycle"].values():
            if isinstance(handler, dict):
                _set_handler_defaults(handler)


@lru_cache(_KNOWN_IMAGES)
def pull_policy(image: str) -> str:
    """Return the policy for an image: Always for the tag "latest", also where the tag and the digest are
    missing."""
    found = _IMAGE.fullmatch(image)
    if found is None:
        return "IfNotPresent"
    tag = found["tag"] or ("" if found["digest"] else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"


def _set_variable_defaults(variable: Manifest) -> None:
    source = variable.get("valueFrom", {})
    if "fieldRef" in source:
        source["fieldRef"].setdefault("apiVersion", FIELD_API_VERSION)
    if "resourceFieldRef" in source:
        source["resourceFieldRef"].setdefault("divisor", "0")
    if "fileKeyRef" in source:
        source["fileKeyRef"].setdefault("optional", False)


def _set_probe_defaults(probe: Manifest) -> None:
    """Set the defaults of a probe, whose zeros count as missing."""
    for field, default in (
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ):
        probe[field] = probe.get(field) or default
    _set_handler_defaults(probe)
    if "grpc" in probe:
        probe["grpc"].setdefault("service", "")


def _set_handler_defaults(handler: Manifest) -> None:
    request = handler.get("httpGet")
    if request is not None:
        request.setdefault("path", "/")
        request.setdefault("scheme", "HTTP")


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
