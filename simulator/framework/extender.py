"""Extender: calls a scheduler extender, an HTTP server (pkg/scheduler/extender.go).

Requests and responses have the types of staging/src/k8s.io/kube-scheduler/extender/v1/types.go. The caller
passes a :class:`Transport` that sends them. This module opens no connections.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Protocol

import msgspec

from simulator.api import SECOND
from simulator.cluster.cluster import Cluster
from simulator.config.extenders import ExtenderConfig
from simulator.kernel.prepared_types import prepared
from simulator.objects.node import Node
from simulator.objects.pod import Pod

NAME = "extender"
"""The name in a pod's unschedulable plugins for all extenders that rejected nodes."""
MAX_EXTENDER_PRIORITY = 10
"""The highest score of an extender; the lowest is 0."""


class ExtenderError(Exception):
    """A call of an extender failed, or its response is invalid."""


class Transport(Protocol):
    def allows(self, url: str) -> bool:
        """Whether the configuration allows calls of this URL."""

    def post(self, url: str, body: bytes, timeout_seconds: float) -> tuple[int, bytes]:
        """Send a POST request with ``body`` (JSON) and return the status code and body of the response.
        Raises ExtenderError if there is no response, or if calls of this URL are not allowed."""


class FilterResult(NamedTuple):
    """The names of the nodes that passed, and messages by node name for the others. A node in none of the
    three was rejected without a message."""

    passed: list[str]
    failed: Mapping[str, str]
    unresolvable: Mapping[str, str]


class ExtenderVictims(NamedTuple):
    """The victims on one node (extenderv1.Victims)."""

    pods: Sequence[Pod]
    """The most important first."""
    pdb_violations: int


Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


# The responses. Field names are in lower case because Go ignores the case of field names; see _decode.


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
    """One extender of the configuration. Its methods raise :class:`ExtenderError` if a call fails."""

    def __init__(self, config: ExtenderConfig, transport: Transport) -> None:
        self.config = config
        self.name = config.url_prefix
        self.ignorable = config.ignorable
        self._transport = transport
        self._managed = {resource.name for resource in config.managed_resources}

    def is_interested(self, pod: Pod) -> bool:
        """Return whether the pod requests a resource that the extender manages (IsInterested). True for all
        pods if the extender manages no resources."""
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
        result = self._call(self.config.filter_verb, self._extender_args(pod, nodes), _FilterResult)
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
        """Return scores by node name. If the response has several scores for a node, they are added."""
        verb = self.config.prioritize_verb
        scores: dict[str, int] = {}
        for scored in self._call(verb, self._extender_args(pod, nodes), list[_HostPriority] | None) or ():
            scores[scored.host] = scores.get(scored.host, 0) + scored.score
        return scores

    def process_preemption(
        self, pod: Pod, victims: Mapping[str, ExtenderVictims], cluster: Cluster
    ) -> dict[str, ExtenderVictims]:
        """Return the victims by node name for the candidates that the extender keeps (ProcessPreemption)."""
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
            violations = chosen.numpdbviolations if chosen else 0
            found[name] = ExtenderVictims([there[uid] for uid in uids], violations)
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

    def _extender_args(self, pod: Pod, nodes: Iterable[Node]) -> dict[str, Any]:
        """Return the ExtenderArgs of a filter or prioritize request."""
        if self.config.node_cache_capable:
            return {"Pod": pod.manifest, "Nodes": None, "NodeNames": [node.name for node in nodes]}
        items = [node.manifest for node in nodes]
        return {"Pod": pod.manifest, "Nodes": {"metadata": {}, "items": items}, "NodeNames": None}

    def _call(self, verb: str, arguments: Any, kind: Any) -> Any:
        url = f"{self.config.url_prefix.rstrip('/')}/{verb}"
        body = msgspec.json.encode(arguments)
        code, response = self._transport.post(url, body, self.config.timeout / SECOND)
        if code != 200:
            raise ExtenderError(f"failed {verb} with extender at URL {url}, code {code}")
        try:
            return _decode(response, kind)
        except msgspec.MsgspecError as failure:
            raise ExtenderError(f"extender at URL {url}: {failure}") from None


def _by_node(victims: Mapping[str, ExtenderVictims], form: Any) -> dict[str, Any]:
    return {
        name: {"Pods": [form(victim) for victim in v.pods], "NumPDBViolations": v.pdb_violations}
        for name, v in victims.items()
    }


def _decode(response: bytes, kind: Any) -> Any:
    return msgspec.convert(_with_lower_case_keys(msgspec.json.decode(response)), prepared(kind))


def _with_lower_case_keys(value: Any) -> Any:
    """Return a copy with the keys of all objects in lower case. Node names, which are also keys, always are
    in lower case."""
    if isinstance(value, dict):
        return {name.lower(): _with_lower_case_keys(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_lower_case_keys(inner) for inner in value]
    return value
