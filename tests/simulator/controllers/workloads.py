"""Small workloads, and functions that read their pods."""

from typing import Any

from simulator.api import Manifest
from tests.simulator.lab import Lab


def template(app: str, *, annotations: dict[str, str] | None = None, **spec: Any) -> Manifest:
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": "100m"}}}
    return {
        "metadata": {"labels": {"app": app}, "annotations": annotations or {}},
        "spec": {"containers": [container], **spec},
    }


def workload(
    kind: str, name: str = "web", *, annotations: dict[str, str] | None = None, pod: Any = None, **spec: Any
) -> Manifest:
    """One of ``apps/v1``; ``annotations`` and ``pod`` (fields of the spec) go into its template."""
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": template(name, annotations=annotations, **(pod or {})),
            **spec,
        },
    }


def pods(lab: Lab, *, alive: bool = True) -> list[Manifest]:
    """The pods in the order of their creation. ``alive`` leaves out finished and terminating pods."""
    return [
        pod
        for pod in lab.api.objects.get("pods", {}).values()
        if not alive or not ("deletionTimestamp" in pod["metadata"] or phase(pod) in ("Succeeded", "Failed"))
    ]


def names(lab: Lab, *, alive: bool = True) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods(lab, alive=alive)]


def phase(pod: Manifest) -> str:
    found: str = pod["status"]["phase"]
    return found


def status(lab: Lab, resource: str, name: str = "web") -> Manifest:
    found: Manifest = lab.api.objects[resource][f"default/{name}"]["status"]
    return found


def scaled(replicas: int) -> Any:
    return lambda manifest: {**manifest, "spec": {**manifest["spec"], "replicas": replicas}}


def new_leader(lab: Lab) -> Lab:
    """A new leader, which has only what is stored."""
    return Lab(api=lab.api, now=lab.now)
