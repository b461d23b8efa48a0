"""The fields of a pod's spec whose feature gate is off by default, which kube-apiserver drops
(dropDisabledFields in pkg/api/pod/util.go, v1.34)."""

from typing import Any, Final

from simulator.api import Manifest

_PROJECTIONS: Final = ("clusterTrustBundle", "podCertificate")
"""Sources of projected volumes (ClusterTrustBundleProjection, PodCertificateRequest)."""


def drop_disabled_pod_fields(spec: Manifest) -> None:
    """Remove the fields from a pod's spec, in place."""
    spec.pop("hostnameOverride", None)  # HostnameOverride
    for containers in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(containers, ()):
            _of_container(container, may_restart=containers == "initContainers")
    _image_volumes(spec)
    for volume in spec.get("volumes", ()):
        for source in (volume.get("projected") or {}).get("sources", ()):
            for field in _PROJECTIONS:
                source.pop(field, None)


def _of_container(container: Manifest, *, may_restart: bool) -> None:
    container.pop("restartPolicyRules", None)  # ContainerRestartRules
    if not may_restart or container.get("restartPolicy") != "Always":
        container.pop("restartPolicy", None)
    lifecycle = container.get("lifecycle") or {}
    if lifecycle.pop("stopSignal", None) and not lifecycle:  # ContainerStopSignals
        del container["lifecycle"]
    for variable in container.get("env", ()):
        (variable.get("valueFrom") or {}).pop("fileKeyRef", None)  # EnvFiles


def _image_volumes(spec: Manifest) -> None:
    """Remove the volumes of images and their mounts (ImageVolume)."""
    volumes = spec.get("volumes", [])
    dropped = {volume["name"] for volume in volumes if "image" in volume}
    if not dropped:
        return
    _replace(spec, "volumes", [volume for volume in volumes if "image" not in volume])
    for containers in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(containers, ()):
            mounts = container.get("volumeMounts", [])
            _replace(container, "volumeMounts", [each for each in mounts if each["name"] not in dropped])


def _replace(holder: Manifest, field: str, items: list[Any]) -> None:
    if items:
        holder[field] = items
    else:
        holder.pop(field, None)
