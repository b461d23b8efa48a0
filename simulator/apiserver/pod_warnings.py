"""Warnings about pods and pod templates that are accepted.

Upstream: warningsForPodSpecAndMeta in pkg/api/pod/warnings.go, v1.34.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.deprecated_labels import DEPRECATED_LABELS
from simulator.apiserver.path_warnings import path_warnings
from simulator.apiserver.pod_annotation_validation import (
    APP_ARMOR,
    APP_ARMOR_IS_DEPRECATED,
    SECCOMP_CONTAINER,
    SECCOMP_POD,
)
from simulator.apiserver.pod_containers import containers_with_paths
from simulator.apiserver.repeated import repeats
from simulator.apiserver.volume_warnings import claim_spec_warnings
from simulator.objects import quantity

_SYSCTLS: Final = 'non-functional in v1.11+; use the "sysctls" field instead'
_ANNOTATIONS: Final = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": _SYSCTLS,
    "security.alpha.kubernetes.io/unsafe-sysctls": _SYSCTLS,
}
_SECCOMP: Final = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_BYTES: Final = ("memory", "ephemeral-storage")
_NO_SELECTOR: Final = "a null labelSelector results in matching no pod"
_VOLUME_PLUGINS: Final = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_VOLUME_NAMES: Final = {"storageos": "storageOS"}
"""Field -> the name that upstream writes for it, where it differs."""


def pod_warnings(pod: Manifest, prefix: str) -> Iterator[str]:
    """Yield the warnings about a pod. ``prefix``: the path of a pod template, with a dot; "" for a pod."""
    spec, path = pod.get("spec") or {}, f"{prefix}spec"
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    yield from _label_warnings(spec, path)
    for key, text in _ANNOTATIONS.items():
        if key in annotations:
            yield f"{prefix}metadata.annotations[{key}]: {text}"
    yield from _volume_warnings(spec.get("volumes") or (), f"{path}.volumes")
    yield from _repeated(spec.get("hostAliases") or (), "ip", f"{path}.hostAliases")
    secrets = spec.get("imagePullSecrets") or ()
    yield from _repeated(secrets, "name", f"{path}.imagePullSecrets")
    for index, secret in enumerate(secrets):
        if not secret.get("name"):
            yield f'{path}.imagePullSecrets[{index}].name: invalid empty name ""'
    yield from _fractions(spec.get("overhead") or {}, _BYTES, f"{path}.overhead")
    if SECCOMP_POD in annotations and not (spec.get("securityContext") or {}).get("seccompProfile"):
        yield f"{prefix}metadata.annotations[{SECCOMP_POD}]: {_SECCOMP}"
    for container, at in containers_with_paths(spec, path):
        key = f"{SECCOMP_CONTAINER}{container['name']}"
        context = container.get("securityContext") or {}
        if key in annotations and not context.get("seccompProfile"):
            yield f"{prefix}metadata.annotations[{key}]: {_SECCOMP}"
        key = f"{APP_ARMOR}{container['name']}"
        if prefix and key in annotations and not context.get("appArmorProfile"):
            yield f"{prefix}metadata.annotations[{key}]: {APP_ARMOR_IS_DEPRECATED}"
        yield from _container_warnings(container, at)
    yield from _port_warnings(spec, path)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        yield (
            f"{path}.terminationGracePeriodSeconds: must be >= 0; "
            "negative values are invalid and will be treated as 1"
        )
    yield from _pod_affinity_warnings(spec, path)


def term_warnings(term: Manifest, path: str) -> Iterator[str]:
    """Yield the warnings about a term of a node selector (GetWarningsForNodeSelectorTerm)."""
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        key = expression.get("key")
        if key in DEPRECATED_LABELS:
            yield f"{path}.matchExpressions[{index}].key: {key} is {DEPRECATED_LABELS[key]}"


def _label_warnings(spec: Manifest, path: str) -> Iterator[str]:
    """Yield the warnings of deprecated labels in node selectors and affinity."""
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED_LABELS:
            yield f"{path}.nodeSelector[{key}]: {DEPRECATED_LABELS[key]}"
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    at = f"{path}.affinity.nodeAffinity"
    required = node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        where = f"{at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{index}]"
        yield from term_warnings(term, where)
    for index, preferred in enumerate(node.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        where = f"{at}.preferredDuringSchedulingIgnoredDuringExecution[{index}].preference"
        yield from term_warnings(preferred["preference"], where)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        at = f"{path}.topologySpreadConstraints[{index}]"
        key = constraint.get("topologyKey")
        if key in DEPRECATED_LABELS:
            yield f"{at}.topologyKey: {key} is {DEPRECATED_LABELS[key]}"
        if constraint.get("labelSelector") is None:
            yield f"{at}.labelSelector: {_NO_SELECTOR}"


def _pod_affinity_warnings(spec: Manifest, path: str) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = (spec.get("affinity") or {}).get(kind) or {}
        for field, inner in (
            ("requiredDuringSchedulingIgnoredDuringExecution", ""),
            ("preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm"),
        ):
            for index, each in enumerate(affinity.get(field) or ()):
                term = each[inner] if inner else each
                at = f"{path}.affinity.{kind}.{field}[{index}]" + (f".{inner}" if inner else "")
                if term.get("labelSelector") is None:
                    yield f"{at}.labelSelector: {_NO_SELECTOR}"


def _volume_warnings(volumes: Sequence[Manifest], path: str) -> Iterator[str]:
    for index, volume in enumerate(volumes):
        for plugin, text in _VOLUME_PLUGINS.items():
            if plugin in volume:
                yield f"{path}[{index}].{_VOLUME_NAMES.get(plugin, plugin)}: {text}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is not None:
            at = f"{path}[{index}].ephemeral.volumeClaimTemplate.spec"
            yield from claim_spec_warnings(template.get("spec") or {}, at)
    yield from path_warnings(volumes)


def _repeated(items: Sequence[Manifest], field: str, path: str) -> Iterator[str]:
    values = [item.get(field, "") for item in items]
    for index, (value, is_repeated) in enumerate(zip(values, repeats(values), strict=True)):
        if is_repeated:
            yield f'{path}[{index}].{field}: duplicate {field} "{value}"'


def _fractions(amounts: Manifest, of: Sequence[str], path: str) -> Iterator[str]:
    for name in of:
        if name in amounts and quantity.parse_quantity(amounts[name]) % quantity.NANO:
            yield f'{path}[{name}]: fractional byte value "{amounts[name]}" is invalid, must be an integer'


def _container_warnings(container: Manifest, path: str) -> Iterator[str]:
    resources = container.get("resources") or {}
    for name in _BYTES:
        for kind in ("limits", "requests"):
            yield from _fractions(resources.get(kind) or {}, (name,), f"{path}.resources.{kind}")
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name, value = variable["name"], variable.get("value", "")
        reference = f"$({name})"
        extends = "valueFrom" not in variable and value != reference and reference in value
        if name in seen and not extends:
            yield (
                f'{path}.env[{index}]: hides previous definition of "{name}", '
                "which may be dropped when using apply"
            )
        seen.add(name)


def _port_warnings(spec: Manifest, path: str) -> Iterator[str]:
    known: dict[tuple[int, str], _SimilarPorts] = {}
    for container, at in containers_with_paths(spec, path):
        for index, port in enumerate(container.get("ports") or ()):
            where = f"{at}.ports[{index}]"
            number, protocol = port.get("containerPort", 0), port.get("protocol", "TCP")
            address, host = port.get("hostIP", ""), port.get("hostPort", 0)
            if address and not host:
                name = port.get("name", "")
                shown = f"Name:{name} HostPort:0 ContainerPort:{number} Protocol:{protocol} HostIP:{address}"
                yield f"{where}: hostIP set without hostPort: {{{shown}}}"
            others = known.setdefault((number, protocol), _SimilarPorts())
            yield from others.add(where, address, host)


class _SimilarPorts:
    """The ports of a pod with one number and protocol, by what makes them conflict with others."""

    def __init__(self) -> None:
        self._ports: list[_Port] = []
        self._alike: dict[object, list[_Port]] = {}

    def add(self, where: str, address: str, host: int) -> Iterator[str]:
        """Yield the warnings about a port and earlier ones, in their order."""
        port = _Port(len(self._ports), where, address, host)
        for other in self._conflicting(port):
            if (address, host) == (other.address, other.host):
                yield f"{where}: duplicate port definition with {other.where}"
            elif not host or not other.host:
                yield f"{where}: overlapping port definition with {other.where}"
            else:
                yield f"{where}: dangerously ambiguous port definition with {other.where}"
        self._ports.append(port)
        for key in ((host, address), (host, bool(address))) if host else (0,):
            self._alike.setdefault(key, []).append(port)

    def _conflicting(self, port: "_Port") -> Iterable["_Port"]:
        if not port.host:
            return self._ports
        keys = (0, (port.host, port.address), (port.host, not port.address))
        return merge(*(self._alike.get(key, ()) for key in keys))


class _Port(NamedTuple):
    place: int
    where: str
    address: str
    host: int
