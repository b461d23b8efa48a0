"""The pod that ``explain`` and ``whatif`` are asked about: a Pod, or the pod of a workload's template."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from simulator.api import Change, Manifest
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES
from simulator.apiserver.restore import READ_OF_PODS
from simulator.command_line.files import faults_of, read_text
from simulator.command_line.tables import join_names
from simulator.objects.metadata import key_of, name_of
from simulator.objects.pod import Pod
from simulator.objects.status import FINISHED_PHASES, phase_of
from simulator.questions import pod_of_workload
from simulator.questions.pod_of_workload import find_template, make_pod

Item = tuple[Resource, Manifest]


class AskedPod(NamedTuple):
    pod: Pod
    sentences: list[str]
    """What is to be said of it before the answer: of what it is the pod, and why the scheduler would not see
    it."""


def read_pod(path: Path, items: Sequence[Item]) -> AskedPod:
    """Read a file with one Pod or one workload, and return the pod as the API server of the cluster would
    store it. items: the objects of the cluster. Raises InputError."""
    data = read_text(path)
    with faults_of(path):
        documents = parse_manifests(data)
        asked = [document for document in documents if find_template(document) is not None]
        if len(asked) != 1:
            found = ", ".join(map(_title, asked or documents)) or "no object"
            raise ValueError(f"expected one Pod, or one workload with a pod template, found {found}")
        [manifest] = asked
        workload = "" if manifest["kind"] == "Pod" else _title(manifest)
        others = [_title(document) for document in documents if document is not manifest]
        try:
            pod = make_pod(manifest)
        except (LookupError, TypeError, AttributeError):
            raise ValueError(
                f"the pod template of {_title(manifest)} does not have the form of one"
            ) from None
        admitted = admit_pod(pod, items)
        return AskedPod(admitted, [*_describe_file(workload, others), *describe_state(admitted, items)])


def _describe_file(workload: str, others: Sequence[str]) -> Iterator[str]:
    """Yield what the file has. workload: of whose template the pod is; empty for a Pod. others: the objects
    that are not considered."""
    if workload:
        yield f"It is the pod of the template of {workload}."
    if others:
        yield f"Not considered: {join_names(others)}."


def describe_state(pod: Pod, items: Iterable[Item]) -> Iterator[str]:
    """Yield the reason for which the scheduler does not take the pod as a new one: its informer leaves out
    pods that have ended (NewInformerFactory in pkg/scheduler/scheduler.go), the queue takes pods without a
    node (addAllEventHandlers in eventhandlers.go), and a cycle ends for one that is deleted (skipPodSchedule
    in schedule_one.go)."""
    node, phase = pod.node_name, phase_of(pod.manifest)
    if phase in FINISHED_PHASES:
        yield f"It has ended (status.phase {phase}): the scheduler does not see it."
    elif pod.terminating:
        yield "Its deletion was requested (metadata.deletionTimestamp): the scheduler does not schedule it."
    if node:
        known = any(resource == NODES and name_of(item) == node for resource, item in items)
        missing = "" if known else ", a node that does not exist"
        yield (
            f"It has spec.nodeName {node}{missing}: the scheduler does not see it. What follows is about a "
            "pod that asks for this node."
        )
    elif phase in FINISHED_PHASES or pod.terminating:
        yield "What follows is about a new pod like it."


def _title(manifest: Manifest) -> str:
    metadata = manifest.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return f"{manifest['kind']} {name}".strip()


def admit_pod(manifest: Manifest, items: Iterable[Item]) -> Pod:
    """Return the pod as the API server of this cluster would store it. Raises StatusError or ValueError."""
    return pod_of_workload.admit_pod(manifest, _read_of_pods(items))


def _read_of_pods(items: Iterable[Item]) -> Iterator[Change]:
    """Yield the objects that admission reads for a new pod."""
    for resource, item in items:
        if resource.id in READ_OF_PODS:
            yield Change(resource.id, key_of(item), item, 0)
