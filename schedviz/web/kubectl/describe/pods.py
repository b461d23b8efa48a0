"""The output of ``kubectl describe pod`` (describePod)."""

from collections.abc import Iterable, Sequence

from schedviz.web.kubectl.describe.containers import write_containers
from schedviz.web.kubectl.describe.events import events_about, write_events
from schedviz.web.kubectl.describe.fields import (
    NONE,
    annotations,
    date,
    labels,
    list_lines,
    requirements,
    toleration,
)
from schedviz.web.kubectl.describe.volumes import write_volumes
from schedviz.web.kubectl.describe.writer import Writer
from simulator.api import Manifest, Micros
from simulator.apiserver.kinds.workloads.templates import format_label_selector
from simulator.apiserver.printers.column import since
from simulator.objects.owner_references import controller_of
from simulator.objects.pod_requests import qos_class

MIRROR: str = "kubernetes.io/config.mirror"
"""The annotation of a mirror pod, whose Events have its value as UID."""


def describe_pod(manifest: Manifest, naming: Iterable[Manifest], now: Micros) -> str:
    """naming: the Events about objects with the pod's name."""
    to = Writer()
    metadata, spec, status = manifest["metadata"], manifest["spec"], manifest.get("status") or {}
    _write_head(to, manifest, now)
    if spec.get("resources") is not None:
        to.line(0, "Resources:")
        requirements(to, 1, spec["resources"])
    if spec.get("initContainers"):
        write_containers(
            to, "Init Containers", spec["initContainers"], status.get("initContainerStatuses"), manifest
        )
    write_containers(to, "Containers", spec["containers"], status.get("containerStatuses"), manifest)
    if spec.get("ephemeralContainers"):
        write_containers(
            to,
            "Ephemeral Containers",
            spec["ephemeralContainers"],
            status.get("ephemeralContainerStatuses"),
            manifest,
        )
    _write_conditions(to, spec, status)
    write_volumes(to, spec.get("volumes") or ())
    to.line(0, f"QoS Class:\t{status.get('qosClass') or qos_class(manifest)}")
    labels(to, "Node-Selectors", spec.get("nodeSelector") or {})
    tolerations = sorted(spec.get("tolerations") or (), key=lambda each: each.get("key", ""))
    list_lines(to, "Tolerations", [toleration(each) for each in tolerations])
    _write_spreading(to, spec.get("topologySpreadConstraints") or ())
    if spec.get("schedulingGroup") is not None:
        to.line(0, "SchedulingGroup:")
        to.line(1, f"PodGroupName:\t{spec['schedulingGroup'].get('podGroupName', '')}")
    uid = (metadata.get("annotations") or {}).get(MIRROR) or metadata.get("uid", "")
    involved = {"name": metadata["name"], "namespace": metadata["namespace"], "uid": uid}
    write_events(to, events_about(naming, involved), now)
    return to.text()


def _write_head(to: Writer, manifest: Manifest, now: Micros) -> None:
    metadata, spec, status = manifest["metadata"], manifest["spec"], manifest.get("status") or {}
    to.line(0, f"Name:\t{metadata['name']}")
    to.line(0, f"Namespace:\t{metadata['namespace']}")
    if spec.get("priority") is not None:
        to.line(0, f"Priority:\t{spec['priority']}")
    for field, name in (
        ("priorityClassName", "Priority Class Name"),
        ("runtimeClassName", "Runtime Class Name"),
        ("serviceAccountName", "Service Account"),
    ):
        if spec.get(field):
            to.line(0, f"{name}:\t{spec[field]}")
    to.line(
        0,
        f"Node:\t{spec['nodeName']}/{status.get('hostIP', '')}" if spec.get("nodeName") else f"Node:\t{NONE}",
    )
    if status.get("startTime"):
        to.line(0, f"Start Time:\t{date(status['startTime'])}")
    labels(to, "Labels", metadata.get("labels") or {})
    annotations(to, metadata.get("annotations") or {})
    if metadata.get("deletionTimestamp") and status.get("phase") not in ("Failed", "Succeeded"):
        to.line(0, f"Status:\tTerminating (lasts {since(metadata['deletionTimestamp'], now)})")
        to.line(0, f"Termination Grace Period:\t{metadata.get('deletionGracePeriodSeconds', 0)}s")
    else:
        to.line(0, f"Status:\t{status.get('phase', '')}")
    for field in ("reason", "message"):
        if status.get(field):
            to.line(0, f"{field.capitalize()}:\t{status[field]}")
    profile = (spec.get("securityContext") or {}).get("seccompProfile")
    if profile:
        to.line(0, f"SeccompProfile:\t{profile['type']}")
        if profile["type"] == "Localhost":
            to.line(0, f"LocalhostProfile:\t{profile.get('localhostProfile', '')}")
    to.line(0, f"IP:\t{status.get('podIP', '')}")
    addresses = status.get("podIPs") or ()
    to.line(0, "IPs:" if addresses else f"IPs:\t{NONE}")
    for address in addresses:
        to.line(1, f"IP:\t{address.get('ip', '')}")
    controller = controller_of(manifest)
    if controller is not None:
        to.line(0, f"Controlled By:\t{controller['kind']}/{controller['name']}")
    if status.get("nominatedNodeName"):
        to.line(0, f"NominatedNodeName:\t{status['nominatedNodeName']}")


def _write_conditions(to: Writer, spec: Manifest, status: Manifest) -> None:
    conditions: Sequence[Manifest] = status.get("conditions") or ()
    gates = [gate["conditionType"] for gate in spec.get("readinessGates") or ()]
    states = {each["type"]: each["status"] for each in reversed(conditions)}
    for title, rows in (
        ("Readiness Gates", [(gate, states.get(gate, NONE)) for gate in gates]),
        ("Conditions", [(each["type"], each["status"]) for each in conditions]),
    ):
        if rows:
            to.line(0, f"{title}:")
            to.line(1, "Type\tStatus")
        for kind, state in rows:
            to.line(1, f"{kind} \t{state} ")


def _write_spreading(to: Writer, constraints: Sequence[Manifest]) -> None:
    found = []
    for each in sorted(constraints, key=lambda each: each["topologyKey"]):
        selector = each.get("labelSelector")
        chosen = "" if selector is None else f" for selector {format_label_selector(selector)}"
        bound = f"when max skew {each['maxSkew']} is exceeded{chosen}"
        found.append(f"{each['topologyKey']}:{each['whenUnsatisfiable']} {bound}")
    if found:
        list_lines(to, "Topology Spread Constraints", found)
