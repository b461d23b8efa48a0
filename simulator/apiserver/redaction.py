"""What is not taken over of a real cluster's object: what no scheduler reads and nobody wants to have stored.

Secrets hide in more places than Secrets: environments and command lines, probes' headers, annotations
(kubectl keeps the whole manifest in one), parameters of volumes, the last words of a container.
"""

import hashlib
from collections.abc import Callable, Container
from typing import Any, Final

import msgspec

from simulator.api import Manifest

METADATA: Final = frozenset(
    {
        *("name", "generateName", "namespace", "uid", "generation", "labels", "annotations"),
        *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
        *("ownerReferences", "finalizers"),
    }
)
SERVERS_OWN: Final = frozenset({"managedFields", "resourceVersion", "selfLink"})
"""Said by the server about its storage, not about the object: not worth a line in the report."""
FINALIZERS: Final = frozenset({"batch.kubernetes.io/job-tracking", "foregroundDeletion", "orphan"})
"""Those that somebody here removes again; with any other the object would never go."""
ANNOTATION_DOMAINS: Final = ("kubernetes.io", "k8s.io", "schedviz")
"""Annotations of these domains, and of those below them, are the components' own; kubectl's are not kept."""
KUBECTL: Final = "kubectl.kubernetes.io"

CONTAINER: Final = frozenset(
    {
        *("name", "image", "imagePullPolicy", "ports", "resources", "resizePolicy", "restartPolicy"),
        *("terminationMessagePath", "terminationMessagePolicy"),
    }
)
"""What the scheduler and the kubelet's clockwork look at, and what the API server adds to every container."""
POD: Final = frozenset(
    {
        *("affinity", "containers", "initContainers", "nodeName", "nodeSelector", "overhead", "priority"),
        *("preemptionPolicy", "priorityClassName", "resources", "restartPolicy", "runtimeClassName"),
        *("schedulerName", "schedulingGates", "terminationGracePeriodSeconds", "tolerations", "volumes"),
        *("topologySpreadConstraints", "hostNetwork", "activeDeadlineSeconds", "os", "dnsPolicy"),
        *("serviceAccountName", "enableServiceLinks", "resourceClaims", "hostname", "subdomain"),
    }
)
VOLUMES: Final = frozenset(
    {
        *("name", "persistentVolumeClaim", "ephemeral", "emptyDir"),
        *("gcePersistentDisk", "awsElasticBlockStore", "azureDisk", "iscsi", "rbd"),
    }
)
"""Of a pod's volumes, those that a filter asks about; of the inline ones only what names the disk."""
DISK_FIELDS: Final = {
    "gcePersistentDisk": ("pdName", "partition", "readOnly"),
    "awsElasticBlockStore": ("volumeID", "partition", "readOnly"),
    "azureDisk": ("diskName", "diskURI", "readOnly", "kind"),
    "iscsi": ("targetPortal", "iqn", "lun", "readOnly"),
    "rbd": ("monitors", "image", "pool", "readOnly"),
}
CSI_FIELDS: Final = ("driver", "volumeHandle", "readOnly")
STATUS_TEXTS: Final = ("message",)
TEMPLATE_MARK: Final = "schedviz/left-out"
"""The annotation of a pod template that stands for all that was left out of it: two revisions that differ in
an environment only must not become one, or a Deployment would begin a rollout that nobody asked for."""

Note = Callable[[str], None]
"""Takes the path of a field that was left out."""


def redact(manifest: Manifest, salt: bytes, note: Note) -> Manifest:
    """A copy with what is taken over of it. ``salt`` goes into the marks of templates, so that nobody guesses
    what was left out; it is to be forgotten afterwards."""
    found = {**manifest, "metadata": metadata_of(manifest.get("metadata"), note)}
    kind = manifest.get("kind")
    spec = manifest.get("spec")
    if kind == "Pod":
        found["spec"] = pod_spec(spec, "spec", note)
        found["status"] = pod_status(manifest.get("status"), note)
    elif kind == "ControllerRevision":
        found["data"] = _revision(manifest.get("data"), salt, note)
    elif kind == "StorageClass":
        found = _without(found, ("parameters", "mountOptions"), "", note)
    elif kind == "Timetable" and isinstance(spec, dict):
        found["spec"] = _timetable(spec, salt, note)
    elif isinstance(spec, dict):
        found["spec"] = _spec(kind, spec, salt, note)
    return {field: value for field, value in found.items() if value is not None}


def metadata_of(metadata: Any, note: Note) -> Any:
    if not isinstance(metadata, dict):
        return metadata
    kept = _only(metadata, METADATA | SERVERS_OWN, "metadata", note)
    kept = {field: value for field, value in kept.items() if field not in SERVERS_OWN and value is not None}
    annotations, finalizers = kept.get("annotations"), kept.get("finalizers")
    if isinstance(annotations, dict):
        kept["annotations"] = {key: text for key, text in annotations.items() if _is_kept(key)}
        if len(kept["annotations"]) < len(annotations):
            note("metadata.annotations")
    if isinstance(finalizers, list):
        kept["finalizers"] = [name for name in finalizers if name in FINALIZERS]
        if len(kept["finalizers"]) < len(finalizers):
            note("metadata.finalizers")
    return {field: value for field, value in kept.items() if value not in ({}, [])}


def _is_kept(annotation: str) -> bool:
    domain, slash, _ = annotation.partition("/")
    if not slash or domain == KUBECTL:
        return False
    return any(domain == known or domain.endswith("." + known) for known in ANNOTATION_DOMAINS)


def pod_spec(spec: Any, path: str, note: Note) -> Any:
    if not isinstance(spec, dict):
        return spec
    kept = _only(spec, POD, path, note)
    for field in ("containers", "initContainers"):
        kept |= _each(spec, field, lambda each, at: _only(each, CONTAINER, at, note), path)
    if isinstance(spec.get("volumes"), list):
        at = f"{path}.volumes[]"
        volumes = [_volume(each, at, note) for each in spec["volumes"] if isinstance(each, dict)]
        kept["volumes"] = [each for each in volumes if len(each) > 1]
        if not kept["volumes"]:
            del kept["volumes"]
    return kept


def _volume(volume: Manifest, path: str, note: Note) -> Manifest:
    kept = _only(volume, VOLUMES, path, note)
    for source, fields in DISK_FIELDS.items():
        if isinstance(kept.get(source), dict):
            kept[source] = _only(kept[source], fields, f"{path}.{source}", note)
    ephemeral = kept.get("ephemeral")
    if isinstance(ephemeral, dict) and isinstance(template := ephemeral.get("volumeClaimTemplate"), dict):
        kept["ephemeral"] = {**ephemeral, "volumeClaimTemplate": _claim_template(template, note)}
    return kept


def pod_status(status: Any, note: Note) -> Any:
    """Without what containers said when they ended, which may be a page of their log."""
    if not isinstance(status, dict):
        return status
    kept = _without(status, ("ephemeralContainerStatuses", "message"), "status", note)
    for field in ("containerStatuses", "initContainerStatuses"):
        kept |= _each(status, field, lambda each, at: _container_status(each, at, note), "status")
    return kept


def _container_status(status: Manifest, path: str, note: Note) -> Manifest:
    kept = _without(status, ("volumeMounts", "user"), path, note)
    for field in ("state", "lastState"):
        states = kept.get(field)
        if isinstance(states, dict):
            kept[field] = {
                name: _without(state, STATUS_TEXTS, f"{path}.{field}.{name}", note)
                for name, state in states.items()
                if isinstance(state, dict)
            }
    return kept


def _spec(kind: Any, spec: Manifest, salt: bytes, note: Note) -> Manifest:
    """Of workloads and volumes; a spec of another kind is as it was."""
    kept = dict(spec)
    if kind == "PersistentVolume":
        for source, value in spec.items():
            if source == "csi" and isinstance(value, dict):
                kept[source] = _only(value, CSI_FIELDS, "spec.csi", note)
        kept = _without(kept, ("flexVolume", "cephfs", "quobyte", "scaleIO", "storageos"), "spec", note)
    if isinstance(spec.get("template"), dict):
        kept["template"] = template(spec["template"], "spec.template", salt, note)
    job = spec.get("jobTemplate")
    if isinstance(job, dict) and isinstance(inner := job.get("spec"), dict):
        kept["jobTemplate"] = {**job, "metadata": metadata_of(job.get("metadata") or {}, note)}
        kept["jobTemplate"]["spec"] = _spec("Job", inner, salt, note)
    claims = spec.get("volumeClaimTemplates")
    if isinstance(claims, list):
        kept["volumeClaimTemplates"] = [_claim_template(each, note) for each in claims]
    return kept


def _claim_template(claim: Any, note: Note) -> Any:
    if not isinstance(claim, dict):
        return claim
    return {**claim, "metadata": metadata_of(claim.get("metadata") or {}, note)}


def template(given: Manifest, path: str, salt: bytes, note: Note) -> Manifest:
    """A pod template, with a mark that stands for what was left out of it."""
    left: list[str] = []

    def noted(field: str) -> None:
        left.append(field)
        note(field)

    metadata = metadata_of(given.get("metadata") or {}, noted)
    kept = {"metadata": metadata, "spec": pod_spec(given.get("spec"), f"{path}.spec", noted)}
    if left:
        # Labels of one revision are its own: the rest of the template makes it what it is.
        whole = {**given, "metadata": {"annotations": (given.get("metadata") or {}).get("annotations")}}
        # "$patch" is how revisions say that they replace the template.
        whole.pop("$patch", None)
        text = msgspec.json.encode(_without_nulls(whole), order="deterministic")
        mark = hashlib.blake2b(text, digest_size=8, key=salt).hexdigest()
        metadata["annotations"] = {**metadata.get("annotations", {}), TEMPLATE_MARK: mark}
    return kept


def _revision(data: Any, salt: bytes, note: Note) -> Any:
    """Of a StatefulSet or DaemonSet: its template, and nothing else."""
    match data:
        case {"spec": {"template": dict(given)}}:
            return {"spec": {"template": template(given, "spec.template", salt, note)}}
    return None


def _timetable(spec: Manifest, salt: bytes, note: Note) -> Manifest:
    entries = spec.get("entries")
    if not isinstance(entries, list):
        return spec
    return {
        **spec,
        "entries": [
            {**entry, "object": redact(entry["object"], salt, note)}
            for entry in entries
            if isinstance(entry, dict) and isinstance(entry.get("object"), dict)
        ],
    }


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _each(whole: Manifest, field: str, change: Callable[[Manifest, str], Manifest], path: str) -> Manifest:
    """The field with each object of its list changed; nothing where there is no list."""
    items = whole.get(field)
    if not isinstance(items, list):
        return {}
    at = f"{path}.{field}[]"
    return {field: [change(item, at) for item in items if isinstance(item, dict)]}


def _only(whole: Manifest, fields: Container[str], path: str, note: Note) -> Manifest:
    for field, value in whole.items():
        if field not in fields and value is not None:
            note(f"{path}.{field}")
    return {field: value for field, value in whole.items() if field in fields}


def _without(whole: Manifest, fields: Container[str], path: str, note: Note) -> Manifest:
    for field, value in whole.items():
        if field in fields and value:
            note(f"{path}.{field}" if path else field)
    return {field: value for field, value in whole.items() if field not in fields}
