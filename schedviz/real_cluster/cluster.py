"""A real cluster, read once: its objects, and the version, configuration and gates of its scheduler."""

import re
import secrets
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from schedviz.real_cluster.errors import ClusterError, Refused
from schedviz.real_cluster.lists import list_pages
from schedviz.real_cluster.read_resources import (
    FIELD_SELECTORS,
    GROUPS,
    NEEDED,
    READ,
    fault_of_needed,
    list_path,
    say_elsewhere,
    say_unread,
)
from schedviz.real_cluster.reader import ClusterReader
from simulator.api import Manifest, Micros
from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.kinds.pod_groups import POD_GROUPS
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES, PODS
from simulator.command_line.files import CONFIGURATION
from simulator.dumps.kubelet_versions import gates_of, nearest_patch
from simulator.dumps.listed_objects import ListedObjects, ListFault
from simulator.kernel.prepared_types import prepared
from simulator.versions.feature_gates import GANG_GATES, can_be_on, feature_gates
from simulator.versions.features import DEFAULT_FEATURES, Features
from simulator.versions.kubernetes_version import KubernetesVersion

SALT_BYTES: Final = 32
GATE: Final = re.compile(r'^kubernetes_feature_enabled\{name="(\w+)",stage="[A-Z]*"\} ([01])$', re.MULTILINE)
METRICS_SECONDS: Final = 3.0
"""The timeout for the scheduler's metrics, which are seldom reachable."""
UNKNOWN_VERSION: Final = "of an unknown version (/version is forbidden)"
CONFIG_MAP: Final = re.compile(r"([^/:]+)/([^/:]+)(?::([^/:]+))?")


class ReadCluster(NamedTuple):
    listed: ListedObjects
    unknown: list[str]
    """What could not be read, and what is unknown thereby."""
    has_nodes: bool
    """Whether nodes could be read."""
    has_all_pods: bool
    """Whether the pods of all namespaces could be read."""


def read_cluster(reader: ClusterReader, features: Features, now: Micros, namespace: str = "") -> ReadCluster:
    """Read the objects. ``namespace``: what may not be read in all namespaces is read in this one, and nodes
    are not needed. Raises ClusterError, also if what is needed cannot be read."""
    listed = ListedObjects(now, secrets.token_bytes(SALT_BYTES), features)
    unknown: list[str] = []
    unread: set[Resource] = set()
    needed = [PODS] if namespace else NEEDED
    otherwise = "" if namespace else "with -n NAMESPACE, one namespace is read"

    def read(resource: Resource, namespace: str = "") -> Refused | None:
        try:
            list_pages(
                reader,
                list_path(resource, namespace),
                partial(listed.begin, resource),
                partial(listed.take, resource),
                FIELD_SELECTORS.get(resource, ""),
            )
        except Refused as refused:
            return refused
        return None

    groups = {each: GROUPS[each] for each in GROUPS if features.enabled(each.gate)}
    for resource, lacking in {**READ, **groups, **NEEDED}.items():
        refused = read(resource)
        if refused is None:
            continue
        unread.add(resource)
        is_namespaced = namespace and resource.namespaced
        if is_namespaced and refused.is_forbidden and read(resource, namespace) is None:
            unknown.append(say_elsewhere(resource, lacking))
        elif resource in needed:
            raise fault_of_needed(resource, refused, otherwise)
        else:
            unknown.append(say_unread(resource, refused, lacking))
    return ReadCluster(listed, unknown, NODES not in unread, PODS not in unread)


def read_pod(reader: ClusterReader, listed: ListedObjects, namespace: str, name: str) -> Manifest:
    """Read one pod, as it is in the list. Raises ClusterError, also for one that the import would refuse."""
    path = f"{list_path(PODS, namespace)}/{quote(name, safe='')}"
    try:
        body = reader.get(path)
    except Refused as refused:
        if refused.is_missing:
            raise ClusterError(f"no pod {namespace}/{name} in the cluster of {reader.context}") from None
        raise
    try:
        listed.take(PODS, b'{"items":[' + body + b"]}")
    except ListFault as fault:
        raise ClusterError(f"{reader.server}: {path}: {fault}") from None
    found = listed.pods.get(PODS.key(namespace, name))
    if found is None:
        raise ClusterError(f"the pod {namespace}/{name} cannot be read: {listed.report.refused[-1:]}")
    return found


# The scheduler


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


def read_version(reader: ClusterReader) -> tuple[str, KubernetesVersion]:
    """Return what the API server says of itself, and the version by which it is judged. Raises
    ClusterError."""
    try:
        body = reader.get("/version")
    except Refused as refused:
        if refused.is_forbidden:
            return UNKNOWN_VERSION, DEFAULT_FEATURES.version
        raise
    try:
        said = msgspec.json.decode(body, type=prepared(_Version)).git_version
    except msgspec.MsgspecError:
        raise ClusterError(f"{reader.server}: /version is not that of a Kubernetes API server") from None
    return said, nearest_patch(said) or DEFAULT_FEATURES.version


class _ConfigMap(msgspec.Struct):
    data: dict[str, str] = {}


def read_configuration(reader: ClusterReader, named: str) -> Manifest:
    """Return the configuration in a ConfigMap, ``namespace/name`` or ``namespace/name:key``. Raises
    ClusterError."""
    found = CONFIG_MAP.fullmatch(named)
    if found is None:
        raise ClusterError(f"--config-map {named}: expected NAMESPACE/NAME or NAMESPACE/NAME:KEY")
    namespace, name, key = found.groups()
    try:
        body = reader.get(f"/api/v1/namespaces/{quote(namespace)}/configmaps/{quote(name)}")
        data = msgspec.json.decode(body, type=prepared(_ConfigMap)).data
    except Refused as refused:
        raise ClusterError(f"--config-map {named}: {refused}") from None
    except msgspec.MsgspecError as fault:
        raise ClusterError(f"--config-map {named}: {fault}") from None
    texts = {key: data[key]} if key and key in data else {} if key else data
    documents: list[Manifest] = []
    for text in texts.values():
        try:
            documents += [each for each in parse_manifests(text.encode()) if each["kind"] == CONFIGURATION]
        except ManifestError as fault:
            if key:
                raise ClusterError(f"--config-map {named}: {fault}") from None
    if len(documents) != 1:
        raise ClusterError(f"--config-map {named}: expected one {CONFIGURATION}, found {len(documents)}")
    return documents[0]


class _Groups(msgspec.Struct):
    items: list[Manifest] | None = None


def read_group_gates(reader: ClusterReader, version: KubernetesVersion) -> dict[str, bool]:
    """Return the gates that are on where the API server serves PodGroups, as far as these show them; none
    where it does not, or does not let them be read."""
    try:
        body = reader.get(list_path(POD_GROUPS), {"limit": "500"})
        groups = msgspec.json.decode(body, type=prepared(_Groups)).items or ()
    except (ClusterError, msgspec.MsgspecError):
        return {}
    found = {*GANG_GATES, *(gate for group in groups for gate in gates_of(group))}
    return {gate: True for gate in sorted(found) if can_be_on(version.name, gate)}


class _Pod(msgspec.Struct):
    metadata: dict[str, Any]


class _Pods(msgspec.Struct):
    items: list[_Pod] | None = None


def read_gates(reader: ClusterReader, version: KubernetesVersion) -> dict[str, bool] | None:
    """Return the gates that the metrics of a scheduler's pod say are set otherwise than the version has them,
    without those of pod groups that are not modelled; None if they cannot be reached."""
    path = list_path(PODS, "kube-system")
    try:
        body = reader.get(path, {"labelSelector": "component=kube-scheduler", "limit": "5"})
        names = [
            str(pod.metadata["name"]) for pod in msgspec.json.decode(body, type=prepared(_Pods)).items or ()
        ]
    except (ClusterError, msgspec.MsgspecError, LookupError):
        return None
    for name in names:
        try:
            metrics = reader.get(
                f"{path}/https:{quote(name, safe='')}:10259/proxy/metrics", timeout=METRICS_SECONDS
            )
        except ClusterError:
            continue
        stated = {gate: value == "1" for gate, value in GATE.findall(metrics.decode(errors="replace"))}
        known = feature_gates(version.name)
        if stated:
            return {
                gate: value
                for gate, value in stated.items()
                if gate in known
                and not known[gate].locked
                and value != known[gate].default
                and (not value or can_be_on(version.name, gate))
            }
    return None
