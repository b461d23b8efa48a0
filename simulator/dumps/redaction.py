"""Redaction of imported objects: fields that the scheduler does not read are removed.

Sensitive data is not only in Secrets. It may be in environment variables, command lines, HTTP headers of
probes, annotations (kubectl stores the whole manifest in one), parameters of volumes, and termination
messages of containers.
"""

import hashlib
from collections.abc import Callable, Container
from typing import Any, Final

import msgspec

from simulator.api import Manifest
from simulator.dumps.fitting import ReportField
from simulator.dumps.redact_devices import redact_devices
from simulator.objects.pod_group import POD_GROUP_PROTECTION
from simulator.objects.volumes import PROTECTION

KEPT_METADATA: Final = frozenset(
    {
        *("name", "generateName", "namespace", "uid", "generation", "labels", "annotations"),
        *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
        *("ownerReferences", "finalizers"),
    }
)
SERVER_METADATA: Final = frozenset({"managedFields", "resourceVersion", "selfLink"})
"""Fields of metadata about the API server's storage. They are removed without being reported."""
KEPT_FINALIZERS: Final = frozenset(
    {
        *("batch.kubernetes.io/job-tracking", "foregroundDeletion", "orphan"),
        *("resource.kubernetes.io/delete-protection", POD_GROUP_PROTECTION, *PROTECTION.values()),
    }
)
"""Finalizers that a simulated controller removes. With any other one the object could never be deleted."""
ANNOTATION_DOMAINS: Final = ("kubernetes.io", "k8s.io", "schedviz")
"""Annotations of these domains and of their subdomains are kept, as components set and read them."""
KUBECTL: Final = "kubectl.kubernetes.io"
"""The subdomain of annotations that are not kept: one contains the whole manifest."""

KEPT_CONTAINER_FIELDS: Final = frozenset(
    {
        *("name", "image", "imagePullPolicy", "ports", "resources", "resizePolicy", "restartPolicy"),
        *("terminationMessagePath", "terminationMessagePolicy"),
    }
)
"""Fields that the scheduler and the simulated kubelet read, and defaults of the API server."""
KEPT_POD_FIELDS: Final = frozenset(
    {
        *("affinity", "containers", "initContainers", "nodeName", "nodeSelector", "overhead", "priority"),
        *("preemptionPolicy", "priorityClassName", "resources", "restartPolicy", "runtimeClassName"),
        *("schedulerName", "schedulingGates", "schedulingGroup", "terminationGracePeriodSeconds"),
        *("tolerations", "volumes"),
        *("topologySpreadConstraints", "hostNetwork", "activeDeadlineSeconds", "os", "dnsPolicy"),
        *(
            "serviceAccount",
            "serviceAccountName",
            "enableServiceLinks",
            "resourceClaims",
            "hostname",
            "subdomain",
        ),
    }
)
KEPT_VOLUME_FIELDS: Final = frozenset(
    {
        *("name", "persistentVolumeClaim", "ephemeral", "emptyDir"),
        *("gcePersistentDisk", "awsElasticBlockStore", "azureDisk", "iscsi", "rbd"),
    }
)
"""The fields of a pod's volume that filter plugins read. KEPT_DISK_FIELDS lists the fields of inline
volumes."""
KEPT_DISK_FIELDS: Final = {
    "gcePersistentDisk": ("pdName", "partition", "readOnly"),
    "awsElasticBlockStore": ("volumeID", "partition", "readOnly"),
    "azureDisk": ("diskName", "diskURI", "readOnly", "kind"),
    "iscsi": ("targetPortal", "iqn", "lun", "readOnly"),
    "rbd": ("monitors", "image", "pool", "readOnly"),
}
KEPT_CSI_FIELDS: Final = ("driver", "volumeHandle", "readOnly")
STATUS_TEXTS: Final = ("message",)
TEMPLATE_MARK: Final = "schedviz/left-out"
"""Annotation of a redacted pod template: a keyed hash of the original template. Two revisions that differ
only in removed fields stay different, as otherwise a Deployment would start a rollout."""


def redact(manifest: Manifest, salt: bytes, note: ReportField) -> Manifest:
    """Return a redacted copy. ``salt`` is the key of the hashes in templates: with it, removed values could
    be guessed from the hashes, so it must not be stored."""
    found = {**manifest, "metadata": redact_metadata(manifest.get("metadata"), note)}
    kind = manifest.get("kind")
    spec = manifest.get("spec")
    if kind == "Pod":
        found["spec"] = redact_pod_spec(spec, "spec", note)
        found["status"] = redact_pod_status(manifest.get("status"), note)
    elif kind == "ControllerRevision":
        found["data"] = _redact_revision(manifest.get("data"), salt, note)
    elif kind == "StorageClass":
        found = _without(found, ("parameters", "mountOptions"), "", note)
    elif str(manifest.get("apiVersion")).startswith("resource.k8s.io/"):
        found = redact_devices(found, note)
    elif kind == "Timetable" and isinstance(spec, dict):
        found["spec"] = _redact_timetable(spec, salt, note)
    elif isinstance(spec, dict):
        found["spec"] = _redact_spec(kind, spec, salt, note)
    return {field: value for field, value in found.items() if value is not None}


def redact_metadata(metadata: Any, note: ReportField) -> Any:
    if not isinstance(metadata, dict):
        return metadata
    kept = _only(metadata, KEPT_METADATA | SERVER_METADATA, "metadata", note)
    kept = {
        field: value for field, value in kept.items() if field not in SERVER_METADATA and value is not None
    }
    annotations, finalizers = kept.get("annotations"), kept.get("finalizers")
    if isinstance(annotations, dict):
        kept["annotations"] = {key: text for key, text in annotations.items() if _is_kept_annotation(key)}
        if len(kept["annotations"]) < len(annotations):
            note("metadata.annotations")
    if isinstance(finalizers, list):
        kept["finalizers"] = [name for name in finalizers if name in KEPT_FINALIZERS]
        if len(kept["finalizers"]) < len(finalizers):
            note("metadata.finalizers")
    return {field: value for field, value in kept.items() if value not in ({}, [])}


def _is_kept_annotation(annotation: str) -> bool:
    domain, slash, _ = annotation.partition("/")
    if not slash or domain == KUBECTL:
        return False
    return any(domain == known or domain.endswith("." + known) for known in ANNOTATION_DOMAINS)


def redact_pod_spec(spec: Any, path: str, note: ReportField) -> Any:
    if not isinstance(spec, dict):
        return spec
    # The default of the API server contains no information.
    default: Manifest = {"securityContext": {}} if spec.get("securityContext") == {} else {}
    stated = {field: value for field, value in spec.items() if field not in default}
    kept = _only(stated, KEPT_POD_FIELDS, path, note) | default
    for field in ("containers", "initContainers"):
        kept |= _redact_items(
            spec, field, lambda each, at: _only(each, KEPT_CONTAINER_FIELDS, at, note), path
        )
    if isinstance(spec.get("volumes"), list):
        at = f"{path}.volumes[]"
        volumes = [_redact_volume(each, at, note) for each in spec["volumes"] if isinstance(each, dict)]
        kept["volumes"] = [each for each in volumes if len(each) > 1]
        if not kept["volumes"]:
            del kept["volumes"]
    return kept


def _redact_volume(volume: Manifest, path: str, note: ReportField) -> Manifest:
    kept = _only(volume, KEPT_VOLUME_FIELDS, path, note)
    for source, fields in KEPT_DISK_FIELDS.items():
        if isinstance(kept.get(source), dict):
            kept[source] = _only(kept[source], fields, f"{path}.{source}", note)
    ephemeral = kept.get("ephemeral")
    if isinstance(ephemeral, dict) and isinstance(template := ephemeral.get("volumeClaimTemplate"), dict):
        kept["ephemeral"] = {**ephemeral, "volumeClaimTemplate": _redact_claim_template(template, note)}
    return kept


def redact_pod_status(status: Any, note: ReportField) -> Any:
    """Remove messages, because the termination message of a container may be a part of its log."""
    if not isinstance(status, dict):
        return status
    kept = _without(status, ("ephemeralContainerStatuses", "message"), "status", note)
    for field in ("containerStatuses", "initContainerStatuses"):
        kept |= _redact_items(
            status, field, lambda each, at: _redact_container_status(each, at, note), "status"
        )
    return kept


def _redact_container_status(status: Manifest, path: str, note: ReportField) -> Manifest:
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


def _redact_spec(kind: Any, spec: Manifest, salt: bytes, note: ReportField) -> Manifest:
    """Redact the spec of a workload or a PersistentVolume. A spec of another kind is returned unchanged."""
    kept = dict(spec)
    if kind == "PersistentVolume":
        for source, value in spec.items():
            if source == "csi" and isinstance(value, dict):
                kept[source] = _only(value, KEPT_CSI_FIELDS, "spec.csi", note)
        kept = _without(kept, ("flexVolume", "cephfs", "quobyte", "scaleIO", "storageos"), "spec", note)
    if isinstance(spec.get("template"), dict):
        kept["template"] = redact_template(spec["template"], "spec.template", salt, note)
    job = spec.get("jobTemplate")
    if isinstance(job, dict) and isinstance(inner := job.get("spec"), dict):
        kept["jobTemplate"] = {**job, "metadata": redact_metadata(job.get("metadata") or {}, note)}
        kept["jobTemplate"]["spec"] = _redact_spec("Job", inner, salt, note)
    claims = spec.get("volumeClaimTemplates")
    if isinstance(claims, list):
        kept["volumeClaimTemplates"] = [_redact_claim_template(each, note) for each in claims]
    return kept


def _redact_claim_template(claim: Any, note: ReportField) -> Any:
    if not isinstance(claim, dict):
        return claim
    return {**claim, "metadata": redact_metadata(claim.get("metadata") or {}, note)}


def redact_template(given: Manifest, path: str, salt: bytes, note: ReportField) -> Manifest:
    """Return a redacted pod template. If fields were removed, it has the annotation TEMPLATE_MARK."""
    left: list[str] = []

    def noted(field: str) -> None:
        left.append(field)
        note(field)

    metadata = redact_metadata(given.get("metadata") or {}, noted)
    kept = {"metadata": metadata, "spec": redact_pod_spec(given.get("spec"), f"{path}.spec", noted)}
    if left:
        # Labels are not hashed, because those of a ReplicaSet's template contain its own pod-template-hash.
        whole = {**given, "metadata": {"annotations": (given.get("metadata") or {}).get("annotations")}}
        # A ControllerRevision's template also has the directive "$patch: replace".
        whole.pop("$patch", None)
        text = msgspec.json.encode(_without_nulls(whole), order="deterministic")
        mark = hashlib.blake2b(text, digest_size=8, key=salt).hexdigest()
        metadata["annotations"] = {**metadata.get("annotations", {}), TEMPLATE_MARK: mark}
    return kept


def _redact_revision(data: Any, salt: bytes, note: ReportField) -> Any:
    """Return the data of a ControllerRevision of a StatefulSet or DaemonSet: its redacted template. Of other
    data nothing is left, but it must be there."""
    match data:
        case {"spec": {"template": dict(given)}}:
            return {"spec": {"template": redact_template(given, "spec.template", salt, note)}}
    return {}


def _redact_timetable(spec: Manifest, salt: bytes, note: ReportField) -> Manifest:
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


def _redact_items(
    whole: Manifest, field: str, change: Callable[[Manifest, str], Manifest], path: str
) -> Manifest:
    """Return ``{field: items}`` with ``change(item, path)`` applied to each item; {} if the field is not a
    list."""
    items = whole.get(field)
    if not isinstance(items, list):
        return {}
    at = f"{path}.{field}[]"
    return {field: [change(item, at) for item in items if isinstance(item, dict)]}


def _only(whole: Manifest, fields: Container[str], path: str, note: ReportField) -> Manifest:
    for field, value in whole.items():
        if field not in fields and value is not None:
            note(f"{path}.{field}")
    return {field: value for field, value in whole.items() if field in fields}


def _without(whole: Manifest, fields: Container[str], path: str, note: ReportField) -> Manifest:
    for field, value in whole.items():
        if field in fields and value:
            note(f"{path}.{field}" if path else field)
    return {field: value for field, value in whole.items() if field not in fields}
