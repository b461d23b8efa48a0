"""Extenders: schedulers' helpers behind HTTP (pkg/scheduler/extender.go, v1.34).

The messages are those of staging/src/k8s.io/kube-scheduler/extender/v1/types.go. How they get there is the
:class:`Transport`'s business, which the caller brings: nothing here opens a connection.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Protocol

import msgspec

from simulator.api import SECOND
from simulator.cluster.cluster import Cluster
from simulator.config.extenders import ExtenderConfig
from simulator.objects.node import Node
from simulator.objects.pod import Pod

NAME = "extender"
"""The name that stands among a pod's unschedulable plugins where extenders turned nodes away."""
MAX_EXTENDER_PRIORITY = 10
"""Extenders score from 0 to 10."""


class ExtenderError(Exception):
    """No usable answer came from an extender."""


class Transport(Protocol):
    def allows(self, url: str) -> bool:
        """Whether an extender may be called there."""

    def post(self, url: str, body: bytes, timeout_seconds: float) -> tuple[int, bytes]:
        """Send ``body`` (JSON) and return the answer's status code and body. Raises ExtenderError where
        there is no answer, and for an address that must not be called."""


class FilterResult(NamedTuple):
    """Messages are by node name; a node in neither is turned away without a word."""

    passed: list[str]
    failed: Mapping[str, str]
    unresolvable: Mapping[str, str]


class Victims(NamedTuple):
    pods: Sequence[Pod]
    """Most important first."""
    pdb_violations: int


Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


# The answers. Field names are in lower case: Go reads them in any, and so does _decode.


class _Named(msgspec.Struct):
    name: str


class _Node(msgspec.Struct):
    metadata: _Named


class _NodeList(msgspec.Struct):
    items: list[_Node] | None = None


class _FilterResult(msgspec.Struct):
    nodes: _NodeList | None = None
    nodenames: list[str] | None = None
    failednodes: dict[str, str] | None = None
    failedandunresolvablenodes: dict[str, str] | None = None
    error: str = ""


class _HostPriority(msgspec.Struct):
    host: str
    score: Int64


class _MetaPod(msgspec.Struct):
    uid: str


class _MetaVictims(msgspec.Struct):
    pods: list[_MetaPod] | None = None
    numpdbviolations: Int64 = 0


class _PreemptionResult(msgspec.Struct):
    nodenametometavictims: dict[str, _MetaVictims | None] | None = None


class _BindingResult(msgspec.Struct):
    error: str = ""


class Extender:
    """One extender of the configuration. Every call raises :class:`ExtenderError` where it fails."""

    def __init__(self, config: ExtenderConfig, transport: Transport) -> None:
        self.config = config
        self.name = config.url_prefix
        self.ignorable = config.ignorable
        self._transport = transport
        self._managed = {resource.name for resource in config.managed_resources}

    def is_interested(self, pod: Pod) -> bool:
        """Whether the pod requests one of the resources that the extender manages; without any, always."""
        return not self._managed or any(
            not self._managed.isdisjoint(listed or ())
            for containers in ("containers", "initContainers")
            for container in pod.spec.get(containers) or ()
            for listed in (container.get("resources") or {}).values()
            if isinstance(listed, dict)
        )

    def filter(self, pod: Pod, nodes: Sequence[Node]) -> FilterResult:
        names = [node.name for node in nodes]
        if not self.config.filter_verb:
            return FilterResult(names, {}, {})
        result = self._call(self.config.filter_verb, self._about(pod, nodes), _FilterResult)
        if result.error:
            raise ExtenderError(result.error)
        passed: list[str] = []
        if self.config.node_cache_capable and result.nodenames is not None:
            passed = result.nodenames
        elif result.nodes is not None:
            passed = [item.metadata.name for item in result.nodes.items or ()]
        unknown = set(passed).difference(names)
        if unknown:
            raise ExtenderError(
                f'extender "{self.name}" claims a filtered node "{min(unknown)}" which is not found in the '
                "input node list"
            )
        return FilterResult(passed, result.failednodes or {}, result.failedandunresolvablenodes or {})

    def prioritize(self, pod: Pod, nodes: Sequence[Node]) -> dict[str, int]:
        """Scores by node name; what is sent twice for a node adds up."""
        verb = self.config.prioritize_verb
        scores: dict[str, int] = {}
        for scored in self._call(verb, self._about(pod, nodes), list[_HostPriority] | None) or ():
            scores[scored.host] = scores.get(scored.host, 0) + scored.score
        return scores

    def process_preemption(
        self, pod: Pod, victims: Mapping[str, Victims], cluster: Cluster
    ) -> dict[str, Victims]:
        """Which of the candidates remain, and with which victims, by node name."""
        arguments: dict[str, Any] = {
            "Pod": pod.manifest,
            "NodeNameToVictims": None,
            "NodeNameToMetaVictims": None,
        }
        if self.config.node_cache_capable:
            arguments["NodeNameToMetaVictims"] = _by_node(victims, lambda victim: {"UID": victim.uid})
        else:
            arguments["NodeNameToVictims"] = _by_node(victims, lambda victim: victim.manifest)
        result = self._call(self.config.preempt_verb, arguments, _PreemptionResult)
        found = {}
        for name, chosen in (result.nodenametometavictims or {}).items():
            if name not in cluster.rows:
                raise ExtenderError(f'nodeinfo not found for node name "{name}"')
            there = {victim.uid: victim for victim in cluster.pods_on(cluster.rows[name]).values()}
            uids = [victim.uid for victim in (chosen.pods if chosen else None) or ()]
            for uid in uids:
                if uid not in there:
                    raise ExtenderError(
                        f"extender: {self.name} claims to preempt pod (UID: {uid}) on node: {name}, but the "
                        "pod is not found on that node"
                    )
            found[name] = Victims([there[uid] for uid in uids], chosen.numpdbviolations if chosen else 0)
        return found

    def bind(self, pod: Pod, node_name: str) -> None:
        arguments = {
            "PodName": pod.name,
            "PodNamespace": pod.namespace,
            "PodUID": pod.uid,
            "Node": node_name,
        }
        result = self._call(self.config.bind_verb, arguments, _BindingResult)
        if result.error:
            raise ExtenderError(result.error)

    def _about(self, pod: Pod, nodes: Iterable[Node]) -> dict[str, Any]:
        """ExtenderArgs."""
        if self.config.node_cache_capable:
            return {"Pod": pod.manifest, "Nodes": None, "NodeNames": [node.name for node in nodes]}
        items = [node.manifest for node in nodes]
        return {"Pod": pod.manifest, "Nodes": {"metadata": {}, "items": items}, "NodeNames": None}

    def _call(self, verb: str, arguments: Any, kind: Any) -> Any:
        url = f"{self.config.url_prefix.rstrip('/')}/{verb}"
        body = msgspec.json.encode(arguments)
        code, answer = self._transport.post(url, body, self.config.timeout / SECOND)
        if code != 200:
            raise ExtenderError(f"failed {verb} with extender at URL {url}, code {code}")
        try:
            return _decode(answer, kind)
        except msgspec.MsgspecError as failure:
            raise ExtenderError(f"extender at URL {url}: {failure}") from None


def _by_node(victims: Mapping[str, Victims], form: Any) -> dict[str, Any]:
    return {
        name: {"Pods": [form(victim) for victim in v.pods], "NumPDBViolations": v.pdb_violations}
        for name, v in victims.items()
    }


def _decode(answer: bytes, kind: Any) -> Any:
    return msgspec.convert(_folded(msgspec.json.decode(answer)), kind)


def _folded(value: Any) -> Any:
    """With all names of fields in lower case. Node names, which are map keys too, are so already."""
    if isinstance(value, dict):
        return {name.lower(): _folded(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_folded(inner) for inner in value]
    return value
