"""Converts manifests with the same pod template between Pod, Deployment and Job."""

from typing import Final

from schedviz.web.manifests.paths import get, mapping, put
from simulator.api import Manifest

WORKLOADS: Final = {"Deployment": "apps/v1", "Job": "batch/v1"}
COPIES: Final = {
    "Deployment": (("spec", "replicas"),),
    "Job": (("spec", "completions"), ("spec", "parallelism")),
}
"""The paths of the number of pods."""
TEMPLATE: Final = ("spec", "template")
APP: Final = "app"
"""The label in the selector of a Deployment that this form creates."""


def template(manifest: Manifest) -> Manifest:
    """Return the pod template of a workload; a Pod itself. A missing template is added."""
    if manifest.get("kind") not in WORKLOADS:
        return manifest
    if not isinstance(get(manifest, TEMPLATE), dict):
        put(manifest, TEMPLATE, {})
    found: Manifest = manifest["spec"]["template"]
    return found


def name_of(manifest: Manifest) -> str:
    metadata = mapping(manifest.get("metadata"))
    return str(metadata.get("name") or metadata.get("generateName") or "")


def put_name(manifest: Manifest, name: str, copies: int) -> None:
    """Set the name. It is a generateName if it ends in "-", or if several Pods are created; a workload is one
    object, whose controller names its pods."""
    several = manifest["kind"] not in WORKLOADS and copies > 1
    generated = several or name.endswith("-")
    called = {"generateName": f"{name.removesuffix('-')}-"} if generated else {"name": name} if name else {}
    rest = mapping(manifest.get("metadata"))
    manifest["metadata"] = called | {
        field: value for field, value in rest.items() if field not in ("name", "generateName")
    }
    if manifest["kind"] == "Deployment":
        put(manifest, ("spec", "selector", "matchLabels", APP), name or None)
        put(manifest, (*TEMPLATE, "metadata", "labels", APP), name or None)


def put_copies(manifest: Manifest, copies: int) -> None:
    for path in COPIES.get(manifest["kind"], ()):
        put(manifest, path, copies)


def convert(kind: str, manifest: Manifest, copies: int) -> Manifest:
    """Return the manifest of another kind with the same pod template."""
    pod, name = template(manifest), name_of(manifest)
    metadata, spec = {**mapping(pod.get("metadata"))}, {**mapping(pod.get("spec"))}
    for field in ("name", "generateName", "namespace"):
        metadata.pop(field, None)
    namespace = get(manifest, ("metadata", "namespace"))
    spec.pop("restartPolicy", None)
    if kind == "Job":
        spec["restartPolicy"] = "Never"  # a Job does not allow the default, Always
    if kind != "Deployment" and get(metadata, ("labels", APP)) == name:
        put(metadata, ("labels", APP), None)  # it was added for the selector of the Deployment
    outer: Manifest = {"namespace": namespace} if namespace else {}
    if kind == "Pod":
        made: Manifest = {"apiVersion": "v1", "kind": kind, "metadata": {**outer, **metadata}, "spec": spec}
    else:
        inner = {"metadata": metadata} if metadata or kind == "Deployment" else {}
        made = {"apiVersion": WORKLOADS[kind], "kind": kind, "metadata": outer, "spec": {}}
        put_copies(made, copies)
        if kind == "Deployment":
            made["spec"]["selector"] = {}
        made["spec"]["template"] = {**inner, "spec": spec}
    put_name(made, name if kind == "Pod" else name.rstrip("-"), copies)
    return made
