"""Which placements a tiny cluster allows, by trying all of them.

Written apart from the product: it reads manifests, knows only the fields that the tests use, and looks at one
pod and one node at a time. It does not score: any node that takes a pod may get it, in any order."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from simulator.api import Manifest

Placement = tuple[tuple[str, str], ...]
"""What runs where: sorted pairs of the label ``app`` of a pod and its node."""


class Unit(NamedTuple):
    """Pods that wait. ordered: each after the one before it (StatefulSet); together: all or none (a gang)."""

    pods: Sequence[Manifest]
    ordered: bool = False
    together: bool = False


def copies(pod: Manifest, count: int) -> list[Unit]:
    return [Unit([pod])] * count


def app_of(pod: Manifest) -> str:
    return str((pod["metadata"].get("labels") or {}).get("app", ""))


class Search:
    """volumes: claim -> the nodes that can mount it; None = any."""

    def __init__(self, nodes: Iterable[Manifest], volumes: Mapping[str, Sequence[str]] | None = None) -> None:
        self.nodes = {node["metadata"]["name"]: node for node in nodes}
        self._volumes = volumes or {}

    def ends(self, placed: Sequence[tuple[Manifest, str]], waiting: Sequence[Unit]) -> set[Placement]:
        """Return what may run where once no further pod fits."""
        found: set[Placement] = set()
        seen = set()
        ways = [(tuple(placed), tuple(waiting))]
        while ways:
            running, left = ways.pop()
            key = placement(running), tuple(sorted(map(_kind, left)))
            if key in seen:
                continue
            seen.add(key)
            steps = [*self._steps(running, left)]
            ways += steps
            if not steps:
                found.add(key[0])
        return found

    def _steps(
        self, running: tuple[tuple[Manifest, str], ...], left: tuple[Unit, ...]
    ) -> Iterator[tuple[tuple[tuple[Manifest, str], ...], tuple[Unit, ...]]]:
        tried: set[tuple[str, int, str]] = set()
        for index, unit in enumerate(left):
            kind = _kind(unit)
            if kind in tried:
                continue
            tried.add(kind)
            count = len(unit.pods) if unit.together else 1
            rest = unit._replace(pods=unit.pods[count:])
            others = left[:index] + ((rest,) if rest.pods else ()) + left[index + 1 :]
            for names in product(self.nodes, repeat=count):
                now = running
                for pod, name in zip(unit.pods, names, strict=False):
                    if not self.takes(now, pod, name):
                        break
                    now = (*now, (pod, name))
                else:
                    yield now, others

    def takes(self, running: Sequence[tuple[Manifest, str]], pod: Manifest, name: str) -> bool:
        node, spec = self.nodes[name], pod["spec"]
        there = [other for other, at in running if at == name]
        return (
            self._has_room(node, [*there, pod])
            and _tolerates(node, spec)
            and _is_selected(node, spec)
            and all(
                name in self._volumes.get(volume["persistentVolumeClaim"]["claimName"], self.nodes)
                for volume in spec.get("volumes") or ()
                if "persistentVolumeClaim" in volume
            )
            and self._is_spread(running, pod, node)
            and self._likes(running, pod, node)
        )

    def _has_room(self, node: Manifest, pods: Sequence[Manifest]) -> bool:
        total: Counter[str] = Counter(pods=len(pods))
        for pod in pods:
            for container in pod["spec"]["containers"]:
                for resource, amount in container["resources"]["requests"].items():
                    total[resource] += milli(amount)
        allocatable = node["status"]["allocatable"]
        total["pods"] *= 1000
        return all(total[resource] <= milli(allocatable.get(resource, 0)) for resource in total)

    def _is_spread(self, running: Sequence[tuple[Manifest, str]], pod: Manifest, node: Manifest) -> bool:
        for rule in pod["spec"].get("topologySpreadConstraints") or ():
            if rule["whenUnsatisfiable"] != "DoNotSchedule":
                continue
            key, app = rule["topologyKey"], rule["labelSelector"]["matchLabels"]["app"]
            if key not in node["metadata"]["labels"]:
                return False
            counts = {
                each["metadata"]["labels"][key]: 0
                for each in self.nodes.values()
                if key in each["metadata"]["labels"] and _is_selected(each, pod["spec"])
            }
            for other, at in running:
                domain = self.nodes[at]["metadata"]["labels"].get(key)
                if app_of(other) == app and domain in counts:
                    counts[domain] += 1
            own = counts[node["metadata"]["labels"][key]] + (app_of(pod) == app)
            if own - min(counts.values()) > rule["maxSkew"]:
                return False
        return True

    def _likes(self, running: Sequence[tuple[Manifest, str]], pod: Manifest, node: Manifest) -> bool:
        def same_domain(key: str, at: str) -> bool:
            own = node["metadata"]["labels"].get(key)
            return own is not None and own == self.nodes[at]["metadata"]["labels"].get(key)

        for term in _terms(pod, "podAntiAffinity"):
            app = term["labelSelector"]["matchLabels"]["app"]
            if any(app_of(other) == app and same_domain(term["topologyKey"], at) for other, at in running):
                return False
        for other, at in running:
            for term in _terms(other, "podAntiAffinity"):
                if term["labelSelector"]["matchLabels"]["app"] == app_of(pod) and same_domain(
                    term["topologyKey"], at
                ):
                    return False
        for term in _terms(pod, "podAffinity"):
            app = term["labelSelector"]["matchLabels"]["app"]
            if any(app_of(other) == app and same_domain(term["topologyKey"], at) for other, at in running):
                continue
            # The first of a series that wants its own kind.
            if app_of(pod) != app or any(app_of(other) == app for other, _ in running):
                return False
        return True


def _kind(unit: Unit) -> tuple[str, int, str]:
    """Return what is equal of units that may be exchanged."""
    return app_of(unit.pods[0]), len(unit.pods), str(unit.pods[0]["spec"].get("affinity"))


def placement(running: Iterable[tuple[Manifest, str]]) -> Placement:
    return tuple(sorted((app_of(pod), node) for pod, node in running))


def milli(amount: Any) -> int:
    text = str(amount)
    for suffix, factor in (("Gi", 1000 << 30), ("Mi", 1000 << 20), ("m", 1)):
        if text.endswith(suffix):
            return int(text.removesuffix(suffix)) * factor
    return int(text) * 1000


def _tolerates(node: Manifest, spec: Manifest) -> bool:
    taints = [each for each in node["spec"].get("taints") or () if each["effect"] != "PreferNoSchedule"]
    if node["spec"].get("unschedulable"):
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    return all(
        any(
            each.get("key", taint["key"]) == taint["key"]
            and each.get("effect", taint["effect"]) == taint["effect"]
            and (each.get("operator") == "Exists" or each.get("value", "") == taint.get("value", ""))
            for each in spec.get("tolerations") or ()
        )
        for taint in taints
    )


def _is_selected(node: Manifest, spec: Manifest) -> bool:
    labels = node["metadata"]["labels"]
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return required is None or any(
        all(labels.get(rule["key"]) in rule["values"] for rule in term.get("matchExpressions") or ())
        and all(node["metadata"]["name"] in rule["values"] for rule in term.get("matchFields") or ())
        for term in required["nodeSelectorTerms"]
    )


def _terms(pod: Manifest, kind: str) -> Sequence[Manifest]:
    affinity = (pod["spec"].get("affinity") or {}).get(kind) or {}
    terms: Sequence[Manifest] = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    return terms
