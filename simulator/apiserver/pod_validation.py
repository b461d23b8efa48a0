"""Validation of pods and pod templates, beyond their schema.

Upstream: pkg/apis/core/validation/validation.go, v1.34."""

from collections.abc import Iterator
from typing import Any

from simulator.api import Manifest
from simulator.apiserver import names, resource_validation, selector_validation
from simulator.apiserver.ephemeral_validation import validate_ephemeral_container
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required
from simulator.apiserver.storage_validation import validate_claim_spec

PROTOCOLS = ("TCP", "UDP", "SCTP")
RESTART_POLICIES = ("Always", "OnFailure", "Never")
DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
WHEN_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
NODE_POLICIES = ("Honor", "Ignore")


def validate_pod(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    yield from validate_pod_spec(spec, "spec")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def validate_new_pod(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that a pod has only while it is created (ValidatePodCreate)."""
    if manifest["spec"].get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")


def validate_pod_spec(spec: Manifest, path: str) -> Iterator[Cause]:
    volumes = spec.get("volumes", ())
    yield from _unique_names(volumes, f"{path}.volumes")
    for index, volume in enumerate(volumes):
        template = volume.get("ephemeral", {}).get("volumeClaimTemplate")
        at = f"{path}.volumes[{index}].ephemeral.volumeClaimTemplate"
        if "ephemeral" in volume and template is None:
            yield required(at)
        elif template is not None:
            yield from validate_claim_spec(template["spec"], f"{at}.spec")
    yield from _containers(spec, {volume["name"] for volume in volumes}, path)
    yield from _enumerations(spec, path)
    yield from _active_deadline(spec, path)
    yield from resource_validation.validate_pod_resources(spec.get("resources"), f"{path}.resources")
    for name, text in spec.get("overhead", {}).items():
        yield from resource_validation.validate_amount(name, text, f"{path}.overhead[{name}]")
    yield from selector_validation.validate_labels(spec.get("nodeSelector", {}), f"{path}.nodeSelector")
    yield from selector_validation.validate_tolerations(spec.get("tolerations", []), f"{path}.tolerations")
    yield from _affinity(spec.get("affinity", {}), f"{path}.affinity")
    yield from _spread(spec.get("topologySpreadConstraints", []), f"{path}.topologySpreadConstraints")
    yield from _gates(spec.get("schedulingGates", []), f"{path}.schedulingGates")
    for field in ("nodeName", "priorityClassName", "schedulerName", "runtimeClassName"):
        if spec.get(field) and (problem := names.dns_subdomain(spec[field])):
            yield invalid(f"{path}.{field}", spec[field], problem)


def _enumerations(spec: Manifest, path: str) -> Iterator[Cause]:
    for field, choices in (
        ("restartPolicy", RESTART_POLICIES),
        ("dnsPolicy", DNS_POLICIES),
        ("preemptionPolicy", PREEMPTION_POLICIES),
    ):
        if field in spec and spec[field] not in choices:
            yield not_supported(f"{path}.{field}", spec[field], choices, as_given=True)


def _active_deadline(spec: Manifest, path: str) -> Iterator[Cause]:
    deadline = spec.get("activeDeadlineSeconds", 1)
    if not 1 <= deadline < 1 << 31:
        yield invalid(
            f"{path}.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive"
        )


def _unique_names(items: Any, path: str, seen: set[str] | None = None) -> Iterator[Cause]:
    seen = set() if seen is None else seen
    for index, item in enumerate(items):
        name = item["name"]
        if not name:
            yield required(f"{path}[{index}].name")
        elif problem := names.dns_label(name):
            yield invalid(f"{path}[{index}].name", name, problem)
        if name in seen:
            yield duplicate(f"{path}[{index}].name", name)
        seen.add(name)


def _containers(spec: Manifest, volumes: set[str], path: str) -> Iterator[Cause]:
    if not spec["containers"]:
        yield required(f"{path}.containers")
    seen: set[str] = set()
    host_ports: set[tuple[str, str, int]] = set()
    for field in ("containers", "initContainers"):
        containers = spec.get(field, ())
        yield from _unique_names(containers, f"{path}.{field}", seen)
        for index, container in enumerate(containers):
            at = f"{path}.{field}[{index}]"
            yield from _container(container, volumes, bool(spec.get("hostNetwork")), at)
            restart = container.get("restartPolicy")
            if restart and field == "containers":
                yield forbidden(f"{at}.restartPolicy", "may not be set for non-init containers")
            elif restart and restart != "Always":
                yield not_supported(f"{at}.restartPolicy", restart, ("Always",))
            if field == "containers" or restart == "Always":
                yield from _host_ports(container, host_ports, at)
    others, at = {*seen}, f"{path}.ephemeralContainers"
    yield from _unique_names(spec.get("ephemeralContainers", ()), at, seen)
    for index, container in enumerate(spec.get("ephemeralContainers", ())):
        yield from _container(container, volumes, bool(spec.get("hostNetwork")), f"{at}[{index}]")
        yield from validate_ephemeral_container(container, others, f"{at}[{index}]")


def _container(container: Manifest, volumes: set[str], host_network: bool, path: str) -> Iterator[Cause]:
    image = container.get("image", "")
    if not image:
        yield required(f"{path}.image")
    elif image != image.strip():
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace")
    yield from resource_validation.validate_container_resources(
        container.get("resources"), f"{path}.resources"
    )
    for index, port in enumerate(container.get("ports", ())):
        yield from _port(port, host_network, f"{path}.ports[{index}]")
    mounts: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts", ())):
        at = f"{path}.volumeMounts[{index}]"
        if mount["name"] not in volumes:
            yield Cause(f"{at}.name", f'Not found: "{mount["name"][:100]}"', "FieldValueNotFound")
        if mount["mountPath"] in mounts:
            yield invalid(f"{at}.mountPath", mount["mountPath"], "must be unique")
        mounts.add(mount["mountPath"])


def _port(port: Manifest, host_network: bool, path: str) -> Iterator[Cause]:
    for field in ("containerPort", "hostPort"):
        number = port.get(field)
        if number is not None and not (1 <= number <= 65535 or (field == "hostPort" and number == 0)):
            yield invalid(f"{path}.{field}", number, "must be between 1 and 65535, inclusive")
    if host_network and port.get("hostPort") != port["containerPort"]:
        yield invalid(
            f"{path}.containerPort",
            port["containerPort"],
            "must match `hostPort` when `hostNetwork` is true",
        )
    if port.get("protocol", "TCP") not in PROTOCOLS:
        yield not_supported(f"{path}.protocol", port["protocol"], PROTOCOLS)


def _host_ports(container: Manifest, seen: set[tuple[str, str, int]], path: str) -> Iterator[Cause]:
    for index, port in enumerate(container.get("ports", ())):
        if port.get("hostPort"):
            identity = (port.get("protocol", "TCP"), port.get("hostIP", ""), port["hostPort"])
            if identity in seen:
                yield duplicate(f"{path}.ports[{index}].hostPort", "/".join(map(str, identity)))
            seen.add(identity)


def _affinity(affinity: Manifest, path: str) -> Iterator[Cause]:
    node = affinity.get("nodeAffinity", {})
    if node.get("requiredDuringSchedulingIgnoredDuringExecution"):
        yield from selector_validation.validate_node_selector(
            node["requiredDuringSchedulingIgnoredDuringExecution"],
            f"{path}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        )
    for at, preferred in _preferred(node, f"{path}.nodeAffinity"):
        yield from _weight(preferred, at)
        yield from selector_validation.validate_node_selector_term(
            preferred["preference"], f"{at}.preference"
        )
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind, {})
        for index, term in enumerate(terms.get("requiredDuringSchedulingIgnoredDuringExecution", ())):
            at = f"{path}.{kind}.requiredDuringSchedulingIgnoredDuringExecution[{index}]"
            yield from _pod_affinity_term(term, at)
        for at, preferred in _preferred(terms, f"{path}.{kind}"):
            yield from _weight(preferred, at)
            yield from _pod_affinity_term(preferred["podAffinityTerm"], f"{at}.podAffinityTerm")


def _preferred(affinity: Manifest, path: str) -> Iterator[tuple[str, Manifest]]:
    field = "preferredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate(affinity.get(field, ())):
        yield f"{path}.{field}[{index}]", term


def _weight(preferred: Manifest, path: str) -> Iterator[Cause]:
    if not 1 <= preferred["weight"] <= 100:
        yield invalid(f"{path}.weight", preferred["weight"], "must be in the range 1-100")


def _pod_affinity_term(term: Manifest, path: str) -> Iterator[Cause]:
    yield from selector_validation.validate_label_selector(term.get("labelSelector"), f"{path}.labelSelector")
    yield from selector_validation.validate_label_selector(
        term.get("namespaceSelector"), f"{path}.namespaceSelector"
    )
    for namespace in term.get("namespaces", ()):
        if problem := names.dns_label(namespace):
            yield invalid(f"{path}.namespace", namespace, problem)
    yield from _topology_key(term["topologyKey"], f"{path}.topologyKey")
    yield from _match_label_keys(term, path)


def _topology_key(key: str, path: str) -> Iterator[Cause]:
    if not key:
        yield required(path, "can not be empty")
    elif problem := names.qualified_name(key):
        yield invalid(path, key, problem)


def _match_label_keys(term: Manifest, path: str) -> Iterator[Cause]:
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = term.get(field, ())
        if keys and term.get("labelSelector") is None:
            yield forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set")
        for index, key in enumerate(keys):
            if problem := names.qualified_name(key):
                yield invalid(f"{path}.{field}[{index}]", key, problem)


def _spread(constraints: list[Manifest], path: str) -> Iterator[Cause]:
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(constraints):
        at = f"{path}[{index}]"
        when = constraint["whenUnsatisfiable"]
        if constraint["maxSkew"] <= 0:
            yield invalid(f"{at}.maxSkew", constraint["maxSkew"], "must be greater than zero")
        yield from _topology_key(constraint["topologyKey"], f"{at}.topologyKey")
        if when not in WHEN_UNSATISFIABLE:
            yield not_supported(f"{at}.whenUnsatisfiable", when, WHEN_UNSATISFIABLE)
        identity = (constraint["topologyKey"], when)
        if identity in seen:
            yield duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", f"{{{identity[0]}, {identity[1]}}}")
        seen.add(identity)
        if "minDomains" in constraint:
            if constraint["minDomains"] <= 0:
                yield invalid(f"{at}.minDomains", constraint["minDomains"], "must be greater than zero")
            if when != "DoNotSchedule":
                yield invalid(
                    f"{at}.minDomains",
                    constraint["minDomains"],
                    f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}",
                )
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if field in constraint and constraint[field] not in NODE_POLICIES:
                yield not_supported(f"{at}.{field}", constraint[field], NODE_POLICIES)
        yield from selector_validation.validate_label_selector(
            constraint.get("labelSelector"), f"{at}.labelSelector"
        )
        yield from _match_label_keys(constraint, at)


def _gates(gates: list[Manifest], path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        if problem := names.qualified_name(gate["name"]):
            yield invalid(f"{path}[{index}]", gate["name"], problem)
        if gate["name"] in seen:
            yield duplicate(f"{path}[{index}]", gate["name"])
        seen.add(gate["name"])
