"""The pod of a workload's template, as the API server of a cluster would store it."""

from collections.abc import Iterable
from typing import Any, Final

from simulator.api import Change, Manifest
from simulator.apiserver.overlay import CreatedObjects
from simulator.apiserver.restore import asked_pod
from simulator.controllers.daemon_placement import add_daemon_tolerations
from simulator.controllers.pods import pod_from_template
from simulator.objects.pod import Pod

TEMPLATES: Final = (("spec", "template"), ("spec", "jobTemplate", "spec", "template"), ("template",))
"""Where workloads have their pod template, also those that are custom resources: a Deployment, a CronJob, a
PodTemplate."""


def find_template(manifest: Manifest) -> Manifest | None:
    """Return the pod template of a workload, or a Pod itself; None if the object has no pod."""
    if manifest["kind"] == "Pod":
        return manifest
    for path in TEMPLATES:
        found: Any = manifest
        for field in path:
            found = found.get(field) if isinstance(found, dict) else None
        if isinstance(found, dict) and isinstance(found.get("spec"), dict):
            return found
    return None


def make_pod(manifest: Manifest, *, with_claims: bool = False) -> Manifest:
    """Return the Pod, or the first pod that the controller of a workload creates. with_claims: whether the
    pod of a StatefulSet has its claims, as ephemeral volumes; otherwise empty ones stand in for them."""
    template = find_template(manifest)
    assert template is not None, "the caller has looked for one"
    if template is manifest:
        return manifest
    pod, metadata = pod_from_template(template), manifest.get("metadata") or {}
    if manifest["kind"] == "DaemonSet":
        add_daemon_tolerations(pod["spec"])
    if "namespace" in metadata:
        pod["metadata"]["namespace"] = metadata["namespace"]
    name = str(metadata.get("name") or "")
    if manifest["kind"] == "StatefulSet":
        pod["metadata"]["name"] = f"{name}-0"
        templates = manifest["spec"].get("volumeClaimTemplates") or ()
        _set_claims(pod["spec"], templates, with_claims=with_claims)
    else:
        pod["metadata"]["generateName"] = f"{name}-"
    return pod


def _set_claims(spec: Manifest, templates: Iterable[Manifest], *, with_claims: bool) -> None:
    """Give the pod of a StatefulSet a volume for each claim that is made with it."""
    claimed = {template["metadata"]["name"]: template["spec"] for template in templates}
    if not claimed:
        return
    others = [volume for volume in spec.get("volumes") or () if volume["name"] not in claimed]
    made: Iterable[Manifest] = ({"name": name, "emptyDir": {}} for name in sorted(claimed))
    if with_claims:
        made = (
            {"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
            for name, claim in sorted(claimed.items())
        )
    spec["volumes"] = [*others, *made]


def admit_pod(manifest: Manifest, read: Iterable[Change]) -> Pod:
    """read: the creations of the objects that admission reads for a new pod
    (:data:`simulator.apiserver.restore.READ_OF_PODS`). Raises StatusError or ValueError."""
    pod, causes = asked_pod(manifest, CreatedObjects(read))
    if causes:
        raise ValueError("; ".join(f"{cause.field}: {cause.message}" for cause in causes))
    return Pod.parse(pod)
