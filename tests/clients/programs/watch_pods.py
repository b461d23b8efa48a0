"""A list and watch loop by the official client for Python. Prints the pods that it knows, and the value of
their label, after each change. usage: python watch_pods.py KUBECONFIG"""

import json
import sys

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

NAMESPACE = "default"


def follow(core: client.CoreV1Api, known: dict[str, str]) -> None:
    """List and watch until the connection is lost, or the version is too old."""
    listed = core.list_namespaced_pod(NAMESPACE)
    known.clear()
    known.update({item.metadata.name: version(item) for item in listed.items})
    show(known)
    events = watch.Watch().stream(
        core.list_namespaced_pod, NAMESPACE, resource_version=listed.metadata.resource_version
    )
    for event in events:
        pod = event["object"]
        if event["type"] == "DELETED":
            known.pop(pod.metadata.name, None)
        else:
            known[pod.metadata.name] = version(pod)
        show(known)


def version(pod: client.V1Pod) -> str:
    return (pod.metadata.labels or {}).get("version", "")


def show(known: dict[str, str]) -> None:
    print(json.dumps(known, sort_keys=True), flush=True)


def main() -> None:
    config.load_kube_config(sys.argv[1])
    configuration = client.Configuration.get_default_copy()
    configuration.retries = False
    core = client.CoreV1Api(client.ApiClient(configuration))
    known: dict[str, str] = {}
    while True:
        try:
            follow(core, known)
        except (HTTPError, ApiException):
            continue


main()
