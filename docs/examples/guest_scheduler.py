"""A scheduler of your own: binds each pod that names it to the feasible node with the most free CPU.

python guest_scheduler.py http://127.0.0.1:8000/s/my-sandbox guest
"""

import sys

from kubernetes import client, watch
from kubernetes.utils import parse_quantity


def requested(pod, resource="cpu"):
    requests = [
        container.resources.requests or {} for container in pod.spec.containers if container.resources
    ]
    return sum(parse_quantity(each.get(resource, 0)) for each in requests)


def best_node(api, pod):
    """The node with the most free CPU that has enough for the pod, or None."""
    pods = api.list_pod_for_all_namespaces().items
    free = {}
    for node in api.list_node().items:
        used = sum(requested(other) for other in pods if other.spec.node_name == node.metadata.name)
        left = parse_quantity(node.status.allocatable["cpu"]) - used
        if left >= requested(pod) and not node.spec.unschedulable:
            free[node.metadata.name] = left
    return max(free, key=free.get, default=None)


def schedule(api, pod, scheduler):
    node = best_node(api, pod)
    if node is None:
        print(f"{pod.metadata.name}: no node has enough CPU", flush=True)
        return
    target = client.V1ObjectReference(api_version="v1", kind="Node", name=node)
    binding = client.V1Binding(metadata=client.V1ObjectMeta(name=pod.metadata.name), target=target)
    # The answer is a Status, which the client would take for a Binding.
    api.create_namespaced_binding(pod.metadata.namespace, binding, _preload_content=False)
    print(f"{scheduler} bound {pod.metadata.name} to {node}", flush=True)


def main(host, scheduler):
    api = client.CoreV1Api(client.ApiClient(client.Configuration(host=host)))
    selector = f"spec.schedulerName={scheduler},spec.nodeName="
    for event in watch.Watch().stream(api.list_pod_for_all_namespaces, field_selector=selector):
        if event["type"] in ("ADDED", "MODIFIED") and not event["object"].spec.node_name:
            schedule(api, event["object"], scheduler)


if __name__ == "__main__":
    main(*sys.argv[1:])
