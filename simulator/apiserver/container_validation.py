"""Validation of the containers of pods.

Upstream: validateContainers, validateInitContainers, validateEphemeralContainers and validateContainerCommon
in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names, resource_validation
from simulator.apiserver.env_validation import validate_env
from simulator.apiserver.ephemeral_validation import validate_ephemeral_container
from simulator.apiserver.probe_validation import GRACE, forbid_probes, validate_probes
from simulator.apiserver.security_context_validation import validate_container_security
from simulator.apiserver.status import (
    Cause,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from simulator.apiserver.volume_source_validation import validate_mounts

PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
MESSAGE_POLICIES: Final = ("FallbackToLogsOnError", "File")
_RESIZABLE: Final = ("cpu", "memory")
_RESIZE_POLICIES: Final = ("NotRequired", "RestartContainer")
_DEFAULT_GRACE: Final = 30


@dataclass(frozen=True, slots=True)
class _PodParts:
    """What containers refer to in the spec of their pod."""

    volumes: Collection[str]
    claims: tuple[str, ...]
    restart_policy: str
    grace_seconds: int


def validate_containers(spec: Manifest, volumes: Collection[str], path: str) -> Iterator[Cause]:
    """Validate all containers of a pod. ``volumes``: the names of its valid volumes."""
    claims = tuple(sorted(claim["name"] for claim in spec.get("resourceClaims") or ()))
    parts = _PodParts(volumes, claims, spec.get("restartPolicy", "Always"), spec.get(GRACE, _DEFAULT_GRACE))
    if not spec.get("containers"):
        yield required(f"{path}.containers")
    seen: set[str] = set()
    ports: set[tuple[str, str, int]] = set()
    for kind in ("containers", "initContainers", "ephemeralContainers"):
        others = frozenset(seen)
        for index, container in enumerate(spec.get(kind) or ()):
            at = f"{path}.{kind}[{index}]"
            yield from _container(container, parts, at)
            if kind == "ephemeralContainers":
                yield from validate_ephemeral_container(container, others, at)
            else:
                yield from _lifetime(container, parts, at, is_init=kind == "initContainers")
            name = container["name"]
            if name and name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)
            if kind == "containers" or container.get("restartPolicy") == "Always":
                yield from _host_ports(container, ports, at)


def validate_host_network(spec: Manifest, path: str, *, is_pod: bool) -> Iterator[Cause]:
    """In the node's network, each port is the node's own. In a template, it may be left out
    (validateHostNetwork)."""
    if not spec.get("hostNetwork"):
        return
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            for number, port in enumerate(container.get("ports", ())):
                host = port.get("hostPort", 0)
                if (is_pod or host) and host != port["containerPort"]:
                    at = f"{path}.{kind}[{index}].ports[{number}].hostPort"
                    yield invalid(at, host, "must match `containerPort` when `hostNetwork` is true")


def _container(container: Manifest, parts: _PodParts, path: str) -> Iterator[Cause]:
    name, image = container["name"], container.get("image", "")
    if not name:
        yield required(f"{path}.name")
    elif problem := names.dns_label(name):
        yield invalid(f"{path}.name", name, problem)
    if not image:
        yield required(f"{path}.image")
    elif image != image.strip():
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace")
    yield from _choice(container, "terminationMessagePolicy", MESSAGE_POLICIES, path)
    yield from _ports(container, path)
    yield from validate_env(container, path)
    yield from validate_mounts(container, parts.volumes, path)
    yield from _choice(container, "imagePullPolicy", PULL_POLICIES, path)
    resources = container.get("resources") or {}
    yield from resource_validation.validate_container_resources(resources, f"{path}.resources")
    yield from _claims(resources, parts.claims, f"{path}.resources.claims")
    yield from _resize_policy(container, parts.restart_policy, f"{path}.resizePolicy")
    if container.get("securityContext"):
        yield from validate_container_security(container["securityContext"], f"{path}.securityContext")


def _lifetime(container: Manifest, parts: _PodParts, path: str, *, is_init: bool) -> Iterator[Cause]:
    restart = container.get("restartPolicy")
    if not is_init or restart == "Always":
        yield from validate_probes(container, path, parts.grace_seconds)
    else:
        yield from forbid_probes(container, path)
    if restart and not is_init:
        yield forbidden(f"{path}.restartPolicy", "may not be set for non-init containers")
    elif restart and restart != "Always":
        yield not_supported(f"{path}.restartPolicy", restart, ("Always",))


def _choice(container: Manifest, field: str, choices: tuple[str, ...], path: str) -> Iterator[Cause]:
    if field in container and container[field] not in choices:
        yield not_supported(f"{path}.{field}", container[field], choices)


def _ports(container: Manifest, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, port in enumerate(container.get("ports", ())):
        at, name = f"{path}.ports[{index}]", port.get("name", "")
        problems = names.port_name_problems(name) if name else []
        for problem in problems:
            yield invalid(f"{at}.name", name, problem)
        if name and not problems and name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)
        for field in ("containerPort", "hostPort"):
            number = port.get(field)
            if number is not None and not (
                1 <= number <= names.MAX_PORT or (field == "hostPort" and number == 0)
            ):
                yield invalid(f"{at}.{field}", number, names.PORT_RANGE)
        if port.get("protocol", "TCP") not in PROTOCOLS:
            yield not_supported(f"{at}.protocol", port["protocol"], PROTOCOLS)


def _host_ports(container: Manifest, seen: set[tuple[str, str, int]], path: str) -> Iterator[Cause]:
    for index, port in enumerate(container.get("ports", ())):
        if port.get("hostPort"):
            identity = (port.get("protocol", "TCP"), port.get("hostIP", ""), port["hostPort"])
            if identity in seen:
                yield duplicate(f"{path}.ports[{index}].hostPort", "/".join(map(str, identity)))
            seen.add(identity)


def _claims(resources: Manifest, known: tuple[str, ...], path: str) -> Iterator[Cause]:
    """validateResourceClaimNames."""
    seen: set[tuple[str, str]] = set()
    for index, claim in enumerate(resources.get("claims") or ()):
        name, at = claim["name"], f"{path}[{index}]"
        if not name:
            yield required(at)
            continue
        identity = (name, claim.get("request", ""))
        if identity in seen:
            yield duplicate(at, "/".join(filter(None, identity)))
        seen.add(identity)
        if name not in known:
            named = f": {', '.join(known)}" if known else " which is empty"
            yield not_found(at, name, f"must be one of the names in pod.spec.resourceClaims{named}")


def _resize_policy(container: Manifest, restart_policy: str, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, policy in enumerate(container.get("resizePolicy", ())):
        name, restart = policy["resourceName"], policy["restartPolicy"]
        if name in seen:
            yield duplicate(f"{path}[{index}]", name)
        seen.add(name)
        for value, choices in ((name, _RESIZABLE), (restart, _RESIZE_POLICIES)):
            if not value:
                yield required(path)
            elif value not in choices:
                yield not_supported(path, value, choices)
        if restart_policy == "Never" and restart != "NotRequired":
            yield invalid(path, restart, "must be 'NotRequired' when `restartPolicy` is 'Never'")
