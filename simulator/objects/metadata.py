"""The metadata of an object, read from its manifest (the accessors of metav1.ObjectMeta)."""

from collections.abc import Mapping, Sequence
from typing import Final

from simulator.api import Manifest, Micros
from simulator.objects.timestamps import micros

GENERATION: Final = "generation"
TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
"""The annotation of a DaemonSet with the generation of its pod template."""
ORPHAN_DEPENDENTS: Final = "orphan"
DELETE_DEPENDENTS: Final = "foregroundDeletion"
"""Finalizers that the garbage collector removes when it has processed the dependents."""


def object_key(namespace: str, name: str) -> str:
    """Return the key by which an object is stored: ``namespace/name``, or ``name`` of a cluster-scoped
    kind."""
    return f"{namespace}/{name}" if namespace else name


def key_of(manifest: Manifest) -> str:
    """Return the object's key: ``namespace/name``, or ``name`` of a cluster-scoped kind
    (MetaNamespaceKeyFunc)."""
    return object_key(namespace_of(manifest), name_of(manifest))


def namespace_of_key(key: str) -> str:
    """Return the namespace in an object's key; "" in that of a cluster-scoped kind."""
    return key.rpartition("/")[0]


def is_within(key: str, namespace: str) -> bool:
    """Whether the object of a key is in a namespace; "" = all."""
    return not namespace or namespace_of_key(key) == namespace


def name_of(manifest: Manifest) -> str:
    name: str = manifest["metadata"]["name"]
    return name


def namespace_of(manifest: Manifest) -> str:
    """Return the namespace of an object; "" for an object of a cluster-scoped kind."""
    namespace: str = manifest["metadata"].get("namespace") or ""
    return namespace


def uid_of(manifest: Manifest) -> str:
    """Return the uid of an object; "" for an object that is not stored yet."""
    uid: str = manifest["metadata"].get("uid", "")
    return uid


def version_of(manifest: Manifest) -> int:
    """Return the resourceVersion of a stored object."""
    return int(manifest["metadata"]["resourceVersion"])


def generation_of(manifest: Manifest) -> int | None:
    """Return the generation of the object's desired state; None if none is counted."""
    return manifest["metadata"].get("generation") or None


def created_at(manifest: Manifest) -> Micros:
    """Return the time at which the object was created; 0, before all others, for one that does not say."""
    stamp = manifest["metadata"].get("creationTimestamp")
    return micros(stamp) if stamp else 0


def labels_of(manifest: Manifest) -> dict[str, str]:
    labels: dict[str, str] = manifest["metadata"].get("labels") or {}
    return labels


def annotations_of(manifest: Manifest) -> dict[str, str]:
    annotations: dict[str, str] = manifest["metadata"].get("annotations") or {}
    return annotations


def finalizers_of(manifest: Manifest) -> Sequence[str]:
    return manifest["metadata"].get("finalizers") or ()


def without_finalizer(manifest: Manifest, finalizer: str) -> Manifest:
    """Return a copy of the object without this finalizer, and without the field after the last one."""
    others = {field: value for field, value in manifest["metadata"].items() if field != "finalizers"}
    kept = [other for other in finalizers_of(manifest) if other != finalizer]
    return {**manifest, "metadata": {**others, **({"finalizers": kept} if kept else {})}}


def is_terminating(manifest: Manifest) -> bool:
    """Whether the object's deletion was requested: it has a deletionTimestamp."""
    return "deletionTimestamp" in manifest["metadata"]


def is_waiting_for(manifest: Manifest, finalizer: str) -> bool:
    """Whether the object is marked for deletion and has this finalizer."""
    return is_terminating(manifest) and finalizer in finalizers_of(manifest)


def with_metadata(manifest: Manifest, **fields: object) -> Manifest:
    """Return a copy of the object with these fields of its metadata set."""
    return {**manifest, "metadata": {**manifest["metadata"], **fields}}


def with_annotations(manifest: Manifest, new: Mapping[str, str]) -> Manifest:
    """Return the object with these annotations set; the object itself if it has them already."""
    old = annotations_of(manifest)
    return manifest if new.items() <= old.items() else with_metadata(manifest, annotations={**old, **new})
