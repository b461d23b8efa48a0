"""What both sides are given: the same objects, at the same time."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from simulator.api import Change, Manifest, Micros
from simulator.apiserver.admission import new_cluster
from simulator.objects import pod_requests
from simulator.objects.node import Node
from simulator.scenario import API_VERSION, Scenario


class Workload(msgspec.Struct, frozen=True):
    objects: list[Change]
    """What there is from the start, in the order in which it came."""
    start: Micros
    pace: Micros
    first_cycle: int = 1


def of_scenario(scenario: Scenario, start: Micros) -> Workload:
    """Raises StatusError for a manifest that admission refuses."""
    return Workload(new_cluster(scenario.manifests, start), start, scenario.pace)


def of_objects(
    objects: Mapping[str, Mapping[str, Manifest]], start: Micros, pace: Micros, first_cycle: int
) -> Workload:
    """Of the objects of a cluster as they are, resource -> key -> manifest."""
    found = [
        (int(manifest["metadata"]["resourceVersion"]), Change(resource, key, manifest, expected=0))
        for resource, collection in objects.items()
        for key, manifest in collection.items()
    ]
    found.sort(key=lambda each: each[0])
    return Workload([change for _, change in found], start, pace, first_cycle)


def largest_pod(workload: Workload) -> dict[str, int]:
    """The requests of the largest pod that there is or will be, of those that an empty node would take: the
    one with the largest sum of its shares of the most cpu and the most memory that a node has. {} without
    pods."""
    manifests = [change.object for change in workload.objects if change.object is not None]
    nodes = [Node.parse(manifest).allocatable for manifest in manifests if manifest["kind"] == "Node"]
    most = {
        name: max((node.get(name, 0) for node in nodes), default=0)
        for name in (pod_requests.CPU, pod_requests.MEMORY)
    }
    best: dict[str, int] = {}
    best_size = -1.0
    for requests in _pod_requests(manifests):
        if nodes and not any(
            all(amount <= node.get(name, 0) for name, amount in requests.items()) for node in nodes
        ):
            continue
        size = sum(requests.get(name, 0) / (most[name] or 1) for name in most)
        if size > best_size:
            best, best_size = requests, size
    return best


def _pod_requests(manifests: Iterable[Manifest]) -> Iterator[dict[str, int]]:
    for manifest in manifests:
        for spec in _pod_specs(manifest):
            try:
                exact = pod_requests.pod_requests({"metadata": {}, "spec": spec}, use_status=False)
            except (ValueError, LookupError, TypeError, AttributeError):
                continue  # of a timetable: admission will refuse it
            yield pod_requests.amounts(exact)


def _pod_specs(manifest: Manifest) -> Iterator[Manifest]:
    """The specs of the pods that an object is or makes."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict):
        return
    if manifest.get("kind") == "Pod":
        yield spec
    elif manifest.get("apiVersion") == API_VERSION:
        for entry in spec.get("entries") or ():
            if isinstance(entry.get("object"), dict):
                yield from _pod_specs(entry["object"])
    elif isinstance(spec.get("jobTemplate"), dict):
        yield from _pod_specs(spec["jobTemplate"])
    elif isinstance(spec.get("template"), dict) and isinstance(spec["template"].get("spec"), dict):
        yield spec["template"]["spec"]
