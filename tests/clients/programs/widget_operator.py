"""An operator by kopf: makes a pod for each Widget, keeps its size in a label of the pod, and evicts the pod
before the Widget is deleted. usage: kopf run widget_operator.py"""

from typing import Any

import kopf
from kubernetes import client, config

WIDGETS = ("example.com", "v1", "widgets")


def core() -> client.CoreV1Api:
    config.load_kube_config()
    return client.CoreV1Api()


@kopf.on.create(*WIDGETS)
def create_pod(name: str, namespace: str, spec: Any, body: Any, **_: object) -> dict[str, str]:
    labels = {"size": str(spec["size"])}
    pod = {
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": "c", "image": "w:1"}]},
    }
    kopf.adopt(pod)
    core().create_namespaced_pod(namespace, pod)
    kopf.info(body, reason="Created", message=f"the pod {name} has the size {spec['size']}")
    return {"pod": name}


@kopf.on.update(*WIDGETS, field="spec.size")
def label_pod(name: str, namespace: str, new: int, **_: object) -> None:
    core().patch_namespaced_pod(name, namespace, {"metadata": {"labels": {"size": str(new)}}})


@kopf.on.delete(*WIDGETS)
def evict_pod(name: str, namespace: str, **_: object) -> None:
    eviction = {"metadata": {"name": name, "namespace": namespace}}
    core().create_namespaced_pod_eviction(name, namespace, eviction)
