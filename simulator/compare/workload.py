"""The workload of a comparison, which both sides run."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from simulator.api import Change, Manifest, Micros
from simulator.apiserver.new_cluster import new_cluster
from simulator.objects import pod_requests
from simulator.objects.node import Node
from simulator.scenario import API_VERSION, Scenario


class ComparedWorkload(msgspec.Struct, frozen=True):
    """The workload of a comparison: the same objects and times for both sides."""

    objects: list[Change]
    """The objects that exist at the start, in the order of their creation."""
    start: Micros
    pace: Micros
    first_cycle: int = 1
    nodes_before: dict[str, str] = {}
    """The pods that are placed again, by key, each with the node that it had; see
    :mod:`simulator.compare.place_again`."""


def workload_of_scenario(scenario: Scenario, start: Micros) -> ComparedWorkload:
    """Return the workload of a scenario. Raises StatusError for a manifest that admission refuses."""
    return ComparedWorkload(new_cluster(scenario.manifests, start, scenario.features), start, scenario.pace)


def workload_of_objects(
    objects: Mapping[str, Mapping[str, Manifest]], start: Micros, pace: Micros, first_cycle: int
) -> ComparedWorkload:
    """Return a workload with the objects of a cluster (by resource and key), in the order of their last
    writes."""
    found = [
        (int(manifest["metadata"]["resourceVersion"]), Change(resource, key, manifest, expected=0))
        for resource, collection in objects.items()
        for key, manifest in collection.items()
    ]
    found.sort(key=lambda each: each[0])
    return ComparedWorkload([change for _, change in found], start, pace, first_cycle)


def largest_pod(workload: ComparedWorkload) -> dict[str, int]:
    """Return the requests of the largest pod that exists or will be created, and that fits on an empty node;
    {} if there is none.

    The size of a pod is its cpu request divided by the largest node's cpu, plus the same for memory."""
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
        for spec in pod_specs(manifest):
            try:
                exact = pod_requests.pod_requests({"metadata": {}, "spec": spec}, use_status=False)
            except (ValueError, LookupError, TypeError, AttributeError):
                continue  # an invalid object in a timetable, which admission will refuse
            yield pod_requests.to_amounts(exact)


def pod_specs(manifest: Manifest) -> Iterator[Manifest]:
    """Yield the specs of the pods that an object is or creates."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict):
        return
    if manifest.get("kind") == "Pod":
        yield spec
    elif manifest.get("apiVersion") == API_VERSION:
        for entry in spec.get("entries") or ():
            if isinstance(entry.get("object"), dict):
                yield from pod_specs(entry["object"])
    elif isinstance(spec.get("jobTemplate"), dict):
        yield from pod_specs(spec["jobTemplate"])
    elif isinstance(spec.get("template"), dict) and isinstance(spec["template"].get("spec"), dict):
        yield spec["template"]["spec"]
