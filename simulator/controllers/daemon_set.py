"""DaemonSets: one pod on every node that will have it (daemon_controller.go and update.go in
pkg/controller/daemon, v1.34). The scheduler places these pods like others: each asks for its node by name."""

import copy
from collections.abc import Sequence
from typing import NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.timestamps import micros
from simulator.controllers.controller import Controller, is_finished
from simulator.controllers.pods import available_at, from_template, is_ready
from simulator.controllers.revisions import HASH_LABEL, REVISIONS, clean_up, revision_hash, update_revision
from simulator.controllers.shares import rounded_up
from simulator.objects import node_selector
from simulator.objects.node import Node
from simulator.objects.pod import Pod

FIRST_DELAY: Micros = SECOND
"""A pod that failed is replaced after so long (failedPodsBackoff; upstream's doubles each time)."""
TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
"""What every daemon puts up with (AddOrUpdateDaemonPodTolerations in pkg/controller/daemon/util)."""


class Survey(NamedTuple):
    """What there is, and what there is to be; names of nodes in the order of their arrival."""

    digest: str
    """The hash of the template as it is."""
    pods: dict[str, list[Manifest]]
    """By the node that they are on or ask for."""
    wanted: dict[str, None]
    """Nodes that are to have a daemon."""
    stays: dict[str, None]
    """Nodes that may keep the one they have."""


class DaemonSetController(Controller):
    resource = "daemonsets.apps"
    kind = "DaemonSet"
    dependents = ("pods", REVISIONS)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource == "nodes":
            for daemon_set in self._world.informer.of(self.resource):
                self.enqueue(daemon_set)

    def sync(self, key: str, manifest: Manifest) -> None:
        if "deletionTimestamp" in manifest["metadata"] or self.claim(manifest) is None:
            return
        revision = update_revision(self, manifest)
        if revision is None:
            return
        seen = self._survey(key, manifest, revision_hash(revision))
        if not self._manage(key, manifest, seen):
            self._update(manifest, seen)
        self._report(key, manifest, seen)
        hashes = (revision_hash(pod) for pods in seen.pods.values() for pod in pods)
        clean_up(self, manifest, {seen.digest, *hashes})

    def _survey(self, key: str, manifest: Manifest, digest: str) -> "Survey":
        pods: dict[str, list[Manifest]] = {}
        for pod in self.owned(manifest):
            pods.setdefault(node_of(pod), []).append(pod)
        daemon = Pod.parse({**self._pod(manifest, digest, ""), "metadata": {"name": key}})
        nodes = [Node.parse(node) for node in self._world.informer.of("nodes").values()]
        wanted = [node.name for node in nodes if runs_on(daemon, node, ("NoSchedule", "NoExecute"))]
        stays = [node.name for node in nodes if runs_on(daemon, node, ("NoExecute",))]
        return Survey(digest, pods, dict.fromkeys(wanted), dict.fromkeys(stays))

    def _manage(self, key: str, manifest: Manifest, seen: "Survey") -> bool:
        """A pod where there is to be one, and none where not. Whether anything was to be done."""
        missing = [name for name in seen.wanted if name not in seen.pods]
        surplus: list[Manifest] = []
        for name, pods in seen.pods.items():
            alive = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
            over = [pod for pod in alive if is_finished(pod)]
            running = [pod for pod in alive if not is_finished(pod)]
            if name not in seen.stays:
                surplus += alive
                continue
            surplus += self._excess(manifest, seen, running)
            for pod in over:
                due = _ended(pod) + FIRST_DELAY
                if due <= self._world.now:
                    surplus.append(pod)
                else:
                    self.enqueue(key, due)
        if surplus:
            self.delete(manifest, surplus, "failed, or not wanted on its node")
        if missing:
            self.create(manifest, [self._pod(manifest, seen.digest, name) for name in missing])
        return bool(surplus or missing)

    def _excess(self, manifest: Manifest, seen: "Survey", running: list[Manifest]) -> list[Manifest]:
        """Who is too many on a node. With a surge an old pod that is ready may stay until the new one is
        available."""
        if not _surge(manifest, 1):
            return running[1:]
        new = [pod for pod in running if revision_hash(pod) == seen.digest]
        old = [pod for pod in running if revision_hash(pod) != seen.digest]
        excess = new[1:] + old[1:]
        if new and old and (not is_ready(old[0]) or self._is_available(manifest, new[0])):
            excess.append(old[0])
        return excess

    def _update(self, manifest: Manifest, seen: "Survey") -> None:
        """Pods of older templates make room for new ones, or wait until these have come."""
        strategy = manifest["spec"]["updateStrategy"]
        if strategy["type"] == "RollingUpdate":
            surge = _surge(manifest, len(seen.wanted))
            if surge:
                self._surge_on(manifest, seen, surge)
            else:
                unavailable = rounded_up(strategy["rollingUpdate"]["maxUnavailable"], len(seen.wanted))
                self._replace(manifest, seen, max(1, unavailable))

    def _surge_on(self, manifest: Manifest, seen: "Survey", surge: int) -> None:
        """A second pod on nodes with an old one: at once where that is of no use, else so many at a time. The
        old one goes when the new one is available (see :meth:`_excess`)."""
        useless: list[str] = []
        useful: list[str] = []
        for name in seen.wanted:
            alive = [pod for pod in seen.pods.get(name, ()) if "deletionTimestamp" not in pod["metadata"]]
            new = [pod for pod in alive if revision_hash(pod) == seen.digest]
            if new and len(alive) > len(new):
                surge -= 1
            elif alive and not new:
                (useful if self._is_available(manifest, alive[0]) else useless).append(name)
        chosen = useless + useful[: max(0, surge)]
        if chosen:
            self.create(manifest, [self._pod(manifest, seen.digest, name) for name in chosen])

    def _replace(self, manifest: Manifest, seen: "Survey", spare: int) -> None:
        """Those that are of no use go at once, the others as many at a time as may be unavailable."""
        useless: list[Manifest] = []
        useful: list[Manifest] = []
        for name in seen.wanted:
            alive = [pod for pod in seen.pods.get(name, ()) if "deletionTimestamp" not in pod["metadata"]]
            available = [pod for pod in alive if self._is_available(manifest, pod)]
            spare -= not available
            for pod in alive:
                if revision_hash(pod) != seen.digest:
                    (useful if pod in available else useless).append(pod)
        replaced = useless + useful[: max(0, spare)]
        if replaced:
            self.delete(manifest, replaced, "of an older template")

    def _is_available(self, manifest: Manifest, pod: Manifest) -> bool:
        time = available_at(pod, manifest["spec"].get("minReadySeconds", 0))
        return time is not None and time <= self._world.now

    def _pod(self, manifest: Manifest, digest: str, node: str) -> Manifest:
        pod = from_template(manifest["spec"]["template"])
        metadata, spec = pod["metadata"], pod["spec"]
        metadata["generateName"] = manifest["metadata"]["name"] + "-"
        metadata.setdefault("labels", {})[HASH_LABEL] = digest
        tolerations = spec.setdefault("tolerations", [])
        for key, effect in TOLERATED:
            tolerations.append({"key": key, "operator": "Exists", "effect": effect})
        if spec.get("hostNetwork"):
            unreachable = "node.kubernetes.io/network-unavailable"
            tolerations.append({"key": unreachable, "operator": "Exists", "effect": "NoSchedule"})
        if node:
            spec["affinity"] = on_node(spec.get("affinity") or {}, node)
        return pod

    def _report(self, key: str, manifest: Manifest, seen: "Survey") -> None:
        here = {name: pods[0] for name, pods in seen.pods.items()}
        right = [pod for name, pod in here.items() if name in seen.wanted]
        usable = sum(self._is_available(manifest, pod) for pod in right)
        self.set_status(
            manifest,
            desiredNumberScheduled=len(seen.wanted),
            currentNumberScheduled=len(right),
            numberMisscheduled=len(here) - len(right),
            numberReady=sum(map(is_ready, right)),
            updatedNumberScheduled=sum(revision_hash(pod) == seen.digest for pod in right),
            numberAvailable=usable,
            numberUnavailable=len(seen.wanted) - usable,
        )
        times = [available_at(pod, manifest["spec"].get("minReadySeconds", 0)) for pod in right]
        due = min((time for time in times if time is not None and time > self._world.now), default=None)
        if due is not None:
            self.enqueue(key, due)


def _surge(manifest: Manifest, nodes: int) -> int:
    """How many more pods than nodes there may be during an update."""
    rolling = manifest["spec"]["updateStrategy"].get("rollingUpdate") or {}
    return rounded_up(rolling.get("maxSurge", 0), nodes)


def node_of(pod: Manifest) -> str:
    """The node that the pod is on, or asks for (GetTargetNodeName)."""
    name: str = pod["spec"].get("nodeName", "")
    affinity = ((pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED) or {}
    for term in affinity.get("nodeSelectorTerms", ()) if not name else ():
        for field in term.get("matchFields", ()):
            if field["key"] == "metadata.name" and field["operator"] == "In":
                return str(field["values"][0])
    return name


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def on_node(affinity: Manifest, name: str) -> Manifest:
    """The affinity, held to one node (ReplaceDaemonSetPodNodeNameNodeAffinity)."""
    new = copy.deepcopy(affinity)
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    term = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    new.setdefault("nodeAffinity", {})[REQUIRED] = term
    return new


def runs_on(daemon: Pod, node: Node, effects: Sequence[str]) -> bool:
    """Whether a daemon belongs on a node: its selectors say so, and it tolerates the taints of these
    effects."""
    if daemon.node_selector is not None and not daemon.node_selector.matches(node.labels):
        return False
    affinity = daemon.node_affinity
    if affinity is not None and not node_selector.matches(affinity, node.name, node.labels):
        return False
    return all(
        any(toleration.tolerates(taint.key, taint.value, taint.effect) for toleration in daemon.tolerations)
        for taint in node.taints
        if taint.effect in effects
    )


def _ended(pod: Manifest) -> Micros:
    conditions = pod["status"].get("conditions") or ()
    ready: Manifest = next((c for c in conditions if c["type"] == "Ready"), {})
    return micros(ready.get("lastTransitionTime") or pod["metadata"]["creationTimestamp"])
