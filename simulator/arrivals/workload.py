"""A workload that is to be played: arrivals and nodes as a scenario, checked before it is played."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.resources import NODES
from simulator.apiserver.served_features import serving
from simulator.apiserver.status import StatusError
from simulator.arrivals.arrival import (
    Arrival,
    ArrivalError,
    What,
    count_pods,
    identity,
    priority_class,
)
from simulator.arrivals.checks import check_admission, check_names, is_there
from simulator.compare.workload import pod_specs
from simulator.framework import snapshot
from simulator.memory_sandbox import START
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.queueing.queue_version import QueueVersion
from simulator.scenario import API_VERSION, Scenario
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message
from simulator.versions.features import DEFAULT_FEATURES

ENTRIES: Final = 20
"""Number of arrivals of one Timetable: the whole Timetable is written with each of them."""
UNFIT_AT_MOST: Final = 100
"""Maximum number of arrivals that are listed because they fit no node; all are counted."""
AFTER_END: Final = 3600 * SECOND
"""The time for which a workload is played after its last arrival or, if that is later, the last end of pods
that started at once: for those that had to wait."""

PACE: Final[Micros] = SECOND // 100
"""The pace of scheduling cycles where none is asked for: about that of kube-scheduler."""
SEED: Final = 1
"""The seed where none is asked for."""


class Unfit(msgspec.Struct, frozen=True):
    """An arrival whose pods fit no node, not even an empty one."""

    line: int
    name: str
    message: str

    def __str__(self) -> str:
        return (f"line {self.line}: " if self.line else "") + f"{self.name}: {self.message}"


class PlayedWorkload(msgspec.Struct, frozen=True):
    scenario: Scenario
    """It may have more objects than one request: :meth:`cluster` makes them."""
    pods: int
    """Number of pods that arrive, in all."""
    duration: Micros
    """The simulated time for which it is played."""
    unfit: list[Unfit]
    """The first arrivals that fit no node."""
    unfit_pods: int

    def cluster(self, now: Micros, *, for_servers: bool = False) -> list[Change]:
        """Return the changes that create its cluster at a time (:func:`new_cluster`)."""
        made = self.scenario
        return new_cluster(made.manifests, now, made.features, for_servers=for_servers, in_parts=True)


def unfit_warning(pods: int, unfit_pods: int, unfit: Sequence[Unfit]) -> str:
    """Return what fits no node, as a line; "" = all pods fit. pods: how many arrive."""
    if not unfit:
        return ""
    further = f" (and {len(unfit) - 1} more arrivals)" if len(unfit) > 1 else ""
    return f"{unfit_pods:,} of {pods:,} pods fit no node, not even an empty one: {unfit[0]}{further}"


def played_scenario(name: str, pace: Micros, seed: int) -> Scenario:
    """Return the settings of a workload that is played by a scheduler with defaults."""
    return Scenario(
        name=name,
        title=name,
        summary="",
        seed=seed,
        pace=pace,
        config=None,
        queue=QueueVersion.KUBERNETES,
        features=DEFAULT_FEATURES,
        manifests=[],
    )


def make_workload(arrivals: Sequence[Arrival], nodes: Sequence[Manifest], made: Scenario) -> PlayedWorkload:
    """Return the workload of arrivals with the settings of a scenario. Raises ArrivalError for objects that
    admission refuses, and for two of the same name at the same time."""
    there = _objects_at_start(arrivals, nodes)
    check_names(arrivals)
    try:
        cluster = new_cluster(there, START, made.features, in_parts=True)
    except StatusError as refused:
        raise ArrivalError(str(refused)) from None
    if not any(_is_node(each.object) for each in arrivals) and not any(map(_is_node, there)):
        raise ArrivalError("the workload has no node; give a file of nodes")
    with serving(made.features):
        check_admission(arrivals, cluster)
    unfit, count = _find_unfit(arrivals, cluster, made)
    entries = sorted(
        (entry for each in arrivals if not is_there(each) for entry in each.entries()),
        key=lambda entry: entry[0],
    )  # fmt: skip
    timetables = [
        _timetable(first // ENTRIES + 1, entries[first : first + ENTRIES])
        for first in range(0, len(entries), ENTRIES)
    ]
    ends = (each.time + (each.duration or 0) for each in arrivals)
    return PlayedWorkload(
        scenario=msgspec.structs.replace(made, manifests=[*there, *timetables]),
        pods=count_pods(arrivals),
        duration=max(ends, default=0) + AFTER_END,
        unfit=unfit,
        unfit_pods=count,
    )


def _timetable(number: int, entries: Sequence[tuple[Micros, What, Manifest]]) -> Manifest:
    listed: list[dict[str, Any]] = [
        {"at": f"{time}us", "object": manifest, **({} if what == "create" else {what: True})}
        for time, what, manifest in entries
    ]
    metadata = {"name": f"arrivals-{number:06}"}
    return {"apiVersion": API_VERSION, "kind": "Timetable", "metadata": metadata, "spec": {"entries": listed}}


def _is_node(manifest: Manifest | None) -> bool:
    return manifest is not None and manifest.get("kind") == "Node"


def _objects_at_start(arrivals: Sequence[Arrival], nodes: Sequence[Manifest]) -> list[Manifest]:
    """Return the nodes, the objects that are there at the beginning, and the namespaces and priority classes
    that the arrivals name and nobody brings."""
    there = [*nodes, *(each.object for each in arrivals if is_there(each) and each.object is not None)]
    known = {(each.get("kind"), each["metadata"].get("name")) for each in there}
    objects = [each.object for each in arrivals if each.object is not None]
    spaces = {each.namespace for each in arrivals}
    spaces |= {str(each["metadata"].get("namespace") or "") for each in [*objects, *nodes]}
    made: list[Manifest] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in sorted(spaces - {"", "default", "kube-system", "kube-public", "kube-node-lease"})
    ]
    made += [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": priority_class(value)},
            "value": value,
        }
        for value in sorted({each.priority for each in arrivals if isinstance(each.priority, int)} - {0})
    ]
    return [each for each in made if (each["kind"], each["metadata"]["name"]) not in known] + there


def _find_unfit(
    arrivals: Sequence[Arrival], cluster: list[Change], made: Scenario
) -> tuple[list[Unfit], int]:
    """Return the first arrivals whose pods fit no node of the cluster when it is empty, and the number of
    these pods in all. Of a pod, what it asks of nodes counts: requests, node affinity, tolerations."""
    frameworks = profiles(load(made.config, features=made.features))
    later = [
        each.object
        for each in arrivals
        if _is_node(each.object) and each.time and not (each.delete or each.change)
    ]
    nodes = [change.object for change in cluster if change.resource == NODES.id and change.object is not None]
    found, _ = snapshot.read(((NODES, node) for node in chain(nodes, filter(None, later))), frameworks)
    answers: dict[bytes, str] = {}
    unfit: list[Unfit] = []
    count = 0
    for each in arrivals:
        for _, what, manifest in each.entries():
            problems = _problems(manifest, found, frameworks, answers) if what == "create" else ()
            problem = next(filter(None, problems), "")
            if problem:
                count += each.pods({})
                if len(unfit) < UNFIT_AT_MOST:
                    unfit.append(Unfit(each.line, each.name or identity(manifest)[1], problem))
            break
    return unfit, count


def _problems(manifest: Manifest, cluster: Any, frameworks: Any, answers: dict[bytes, str]) -> Iterator[str]:
    for given in pod_specs(manifest):
        framework = frameworks.get(given.get("schedulerName") or "default-scheduler")
        if framework is None or given.get("schedulingGates"):
            continue
        asked: Manifest = {
            field: given[field]
            for field in (
                "containers",
                "initContainers",
                "nodeSelector",
                "tolerations",
                "overhead",
                "resources",
            )
            if field in given
        }
        affinity = (given.get("affinity") or {}).get("nodeAffinity")
        if affinity:
            asked["affinity"] = {"nodeAffinity": affinity}
        shape = msgspec.json.encode(asked)
        if shape not in answers:
            pod = Pod.parse(
                {"metadata": {"name": "asked", "namespace": "default", "uid": "asked"}, "spec": asked}
            )
            search = Attempt(framework, cluster, pod, {}, post_filters=False).complete()
            answers[shape] = "" if search.selected is not None else message(search)
        yield answers[shape]
