"""The output of ``kubectl describe node`` (describeNode)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from schedviz.store.past import Readable
from schedviz.web.kubectl.describe.events import events_about, events_naming, write_events
from schedviz.web.kubectl.describe.fields import (
    NONE,
    annotations,
    date,
    labels,
    list_lines,
    resource_list,
    taint,
)
from schedviz.web.kubectl.describe.writer import Writer
from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import age_of
from simulator.apiserver.resources import PODS
from simulator.objects.metadata import key_of
from simulator.objects.pod_requests import CPU, EPHEMERAL_STORAGE, MEMORY, pod_limits, pod_requests
from simulator.objects.quantity import Nanos, milli_value, parse_quantity, text_in_format_of, value
from simulator.objects.status import FINISHED_PHASES, phase_of
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES

LEASES: Final = "leases.coordination.k8s.io"
NODE_LEASES: Final = "kube-node-lease"
ROLE_PREFIX: Final = "node-role.kubernetes.io/"
ROLE_LABEL: Final = "kubernetes.io/role"
HUGE_PAGES: Final = "hugepages-"
FACTS: Final = (
    ("Machine ID", "machineID"),
    ("System UUID", "systemUUID"),
    ("Boot ID", "bootID"),
    ("Kernel Version", "kernelVersion"),
    ("OS Image", "osImage"),
    ("Operating System", "operatingSystem"),
    ("Architecture", "architecture"),
    ("Container Runtime Version", "containerRuntimeVersion"),
    ("Kubelet Version", "kubeletVersion"),
)
MIN_INT64: Final = -(1 << 63)
"""What a processor of the architecture x86-64 makes of a float that no int64 can hold: the share of a
resource of which the node has nothing."""


def describe_node(sandbox: Readable, manifest: Manifest, now: Micros) -> str:
    to = Writer()
    name, spec, status = (
        manifest["metadata"]["name"],
        manifest.get("spec") or {},
        manifest.get("status") or {},
    )
    _write_head(to, manifest)
    _write_lease(to, name, sandbox.get(LEASES, f"{NODE_LEASES}/{name}"))
    _write_conditions(to, status.get("conditions") or ())
    to.line(0, "Addresses:")
    for address in status.get("addresses") or ():
        to.line(1, f"{address['type']}:\t{address['address']}")
    for title, field in (("Capacity", "capacity"), ("Allocatable", "allocatable")):
        if status.get(field):
            to.line(0, f"{title}:")
            resource_list(to, 1, status[field])
    _write_slices(to, sandbox, name)
    to.line(0, "System Info:")
    for title, field in FACTS:
        to.line(0, f"  {title}:\t{(status.get('nodeInfo') or {}).get(field, '')}")
    for title, field in (("PodCIDR", "podCIDR"), ("PodCIDRs", "podCIDRs"), ("ProviderID", "providerID")):
        if found := spec.get(field):
            to.line(0, f"{title}:\t{found if isinstance(found, str) else ','.join(found)}")
    pods = sorted(_running_pods(sandbox, name), key=key_of)
    _write_resources(to, status.get("allocatable") or status.get("capacity") or {}, pods, now)
    # The kubelet of a real node writes its Events with the name as the UID.
    involved = {"kind": "Node", "name": name, "namespace": ""}
    naming = events_naming(sandbox, name)
    about = [
        event
        for uid in (manifest["metadata"].get("uid", ""), name)
        for event in events_about(naming, {**involved, "uid": uid})
    ]
    write_events(to, about, now)
    return to.text()


def _write_head(to: Writer, manifest: Manifest) -> None:
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    given = metadata.get("labels") or {}
    roles = {key.removeprefix(ROLE_PREFIX) for key in given if key.startswith(ROLE_PREFIX)} | {
        given.get(ROLE_LABEL, "")
    }
    to.line(0, f"Name:\t{metadata['name']}")
    to.line(0, f"Roles:\t{','.join(sorted(roles - {''})) or NONE}")
    labels(to, "Labels", given)
    annotations(to, metadata.get("annotations") or {})
    to.line(0, f"CreationTimestamp:\t{date(metadata.get('creationTimestamp'))}")
    taints = sorted(spec.get("taints") or (), key=lambda each: f"{each.get('effect', '')},{each['key']}")
    list_lines(to, "Taints", [taint(each) for each in taints])
    to.line(0, f"Unschedulable:\t{'true' if spec.get('unschedulable') else 'false'}")


def _write_lease(to: Writer, name: str, lease: Manifest | None) -> None:
    if lease is None:
        to.line(0, f'Lease:\tFailed to get lease: {LEASES} "{name}" not found')
        return
    spec = lease.get("spec") or {}
    to.line(0, "Lease:")
    to.line(1, f"HolderIdentity:\t{spec.get('holderIdentity', '<unset>')}")
    for title, field in (("AcquireTime", "acquireTime"), ("RenewTime", "renewTime")):
        to.line(1, f"{title}:\t{date(spec[field]) if spec.get(field) else '<unset>'}")


def _write_conditions(to: Writer, conditions: Sequence[Manifest]) -> None:
    if not conditions:
        return
    to.line(0, "Conditions:")
    to.line(1, "Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage")
    to.line(1, "----\t------\t-----------------\t------------------\t------\t-------")
    for each in conditions:
        times = " \t".join(date(each.get(field)) for field in ("lastHeartbeatTime", "lastTransitionTime"))
        texts = " \t".join(each.get(field, "") for field in ("reason", "message"))
        to.line(1, f"{each['type']} \t{each['status']} \t{times} \t{texts}")


def _write_slices(to: Writer, sandbox: Readable, node: str) -> None:
    """Write the pools of the ResourceSlices of the node, with the slices of all generations."""
    slices: Counter[tuple[str, str]] = Counter()
    devices: Counter[tuple[str, str]] = Counter()
    for manifest in sandbox.list(RESOURCE_SLICES).items:
        spec = manifest["spec"]
        if spec.get("nodeName") == node:
            pool = spec["driver"], spec["pool"]["name"]
            slices[pool] += 1
            devices[pool] += len(spec.get("devices") or ())
    if not slices:
        return
    to.line(0, "Node-Local ResourceSlices:")
    to.line(1, "Driver\tPool\tSlices\tDevices")
    to.line(1, "------\t----\t------\t-------")
    for (driver, name), count in sorted(slices.items()):
        to.line(1, f"{driver}\t{name}\t{count}\t{devices[driver, name]}")


def _running_pods(sandbox: Readable, node: str) -> Iterator[Manifest]:
    for pod in sandbox.speaking_of(PODS.id, node):
        if pod["spec"].get("nodeName") == node and phase_of(pod) not in FINISHED_PHASES:
            yield pod


class Amounts(msgspec.Struct):
    """Amounts of resources. Each is printed in the format of its first summand that is not 0."""

    nanos: dict[str, Nanos] = {}
    formats: dict[str, str] = {}
    """A quantity in the format, by resource."""

    def add(self, other: "Amounts") -> None:
        for name, amount in other.nanos.items():
            self.nanos[name] = self.nanos.get(name, 0) + amount
            if amount:
                self.formats.setdefault(name, other.formats.get(name, ""))

    def text(self, name: str) -> str:
        return text_in_format_of(self.nanos.get(name, 0), self.formats.get(name, ""))

    def share(self, name: str, of: Mapping[str, str]) -> int:
        """Return the amount in percent of that in ``of``, rounded towards 0."""
        count = milli_value if name == CPU else value
        whole = count(parse_quantity(of.get(name, "0")))
        return int(count(self.nanos.get(name, 0)) / whole * 100) if whole else MIN_INT64


def _amounts(pod: Manifest) -> tuple[Amounts, Amounts]:
    """Return the requests and the limits of a pod."""
    spec, found = pod["spec"], []
    containers = [*spec["containers"], *(spec.get("initContainers") or ())]
    nanos = pod_requests(pod, use_status=True), pod_limits(pod)
    for amounts, field in zip(nanos, ("requests", "limits"), strict=True):
        formats: dict[str, str] = {}
        for given in (
            (spec.get("resources") or {}).get(field),
            *((each.get("resources") or {}).get(field) for each in containers),
            spec.get("overhead"),
        ):
            for name, text in (given or {}).items():
                if parse_quantity(text):
                    formats.setdefault(name, text)
        found.append(Amounts(amounts, formats))
    return found[0], found[1]


def _write_resources(
    to: Writer, allocatable: Mapping[str, str], pods: Sequence[Manifest], now: Micros
) -> None:
    """Write the pods and what they have of the node (describeNodeResource)."""
    to.line(0, f"Non-terminated Pods:\t({len(pods)} in total)")
    to.line(1, "Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge")
    to.line(1, "---------\t----\t\t------------\t----------\t---------------\t-------------\t---")
    requests, limits = Amounts(), Amounts()
    for pod in pods:
        own_requests, own_limits = _amounts(pod)
        requests.add(own_requests)
        limits.add(own_limits)
        cells = [
            f"{amounts.text(name)} ({amounts.share(name, allocatable)}%)"
            for name in (CPU, MEMORY)
            for amounts in (own_requests, own_limits)
        ]
        metadata = pod["metadata"]
        to.line(1, "\t".join([metadata["namespace"], metadata["name"], "", *cells, age_of(pod, now)]))
    to.line(0, "Allocated resources:")
    to.line(1, "(Total limits may be over 100 percent, i.e., overcommitted.)")
    to.line(1, "Resource\tRequests\tLimits")
    to.line(1, "--------\t--------\t------")
    huge = sorted(name for name in allocatable if name.startswith(HUGE_PAGES))
    for name in (CPU, MEMORY, EPHEMERAL_STORAGE, *huge):
        shares = [max(0, amounts.share(name, allocatable)) for amounts in (requests, limits)]
        to.line(1, f"{name}\t{requests.text(name)} ({shares[0]}%)\t{limits.text(name)} ({shares[1]}%)")
    for name in sorted(allocatable.keys() - {CPU, MEMORY, EPHEMERAL_STORAGE, "pods", *huge}):
        to.line(1, f"{name}\t{requests.text(name)}\t{limits.text(name)}")
