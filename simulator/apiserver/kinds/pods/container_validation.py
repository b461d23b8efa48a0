"""Validation of the containers of pods.

Upstream: validateContainers, validateInitContainers, validateEphemeralContainers and validateContainerCommon
in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import MESSAGE_POLICIES, PROTOCOLS, PULL_POLICIES, RESTART_POLICIES
from simulator.apiserver.field_checks import check_name, check_port_number, too_many
from simulator.apiserver.kinds.pods.environment import ENVIRONMENT
from simulator.apiserver.kinds.pods.mounts import Volumes, validate_mounts
from simulator.apiserver.kinds.pods.probes import GRACE, NO_PROBES, validate_probes
from simulator.apiserver.kinds.pods.security import validate_container_security
from simulator.apiserver.resource_validation import validate_container_resources
from simulator.apiserver.served_features import enabled
from simulator.apiserver.shapes import (
    all_of,
    choice,
    each,
    field,
    filled,
    items,
    may_not_have,
    must_have,
    named_by,
    needed,
    one_of,
    where,
)
from simulator.apiserver.status import Cause, duplicate, invalid, not_found, not_supported, required

_DEFAULT_GRACE: Final = 30


@dataclass(frozen=True, slots=True)
class _PodParts:
    """The parts of a pod's spec to which its containers refer."""

    volumes: Volumes
    claims: Collection[str]
    restart_policy: str
    grace_seconds: int
    host_users: bool


def validate_containers(spec: Manifest, volumes: Volumes, path: str) -> Iterator[Cause]:
    """Validate all containers of a pod. ``volumes``: its valid volumes by name."""
    claims = dict.fromkeys(sorted({claim["name"] for claim in spec.get("resourceClaims") or ()} - {""}))
    restart, grace = spec.get("restartPolicy", "Always"), spec.get(GRACE, _DEFAULT_GRACE)
    parts = _PodParts(volumes, claims, restart, grace, spec.get("hostUsers") is not False)
    yield from _main_containers(spec, parts, f"{path}.containers")
    yield from _init_containers(spec, parts, f"{path}.initContainers")
    if "ephemeralContainers" in spec:
        yield from _ephemeral_containers(spec, parts, f"{path}.ephemeralContainers")


def _main_containers(spec: Manifest, parts: _PodParts, path: str) -> Iterator[Cause]:
    containers = spec.get("containers")
    if not containers:
        yield required(path)
        return
    seen: set[str] = set()
    for index, container in enumerate(containers):
        at = f"{path}[{index}]"
        yield from _container(container, parts, at)
        if container["name"] in seen:
            yield duplicate(f"{at}.name", container["name"])
        seen.add(container["name"])
        yield from validate_probes(container, at, parts.grace_seconds)
        if enabled("ContainerRestartRules"):
            yield from _restart_policy(container, at)
        else:
            yield from _NO_RESTART_POLICY(container, at)
    ports: set[tuple[str, str, int]] = set()
    for index, container in enumerate(containers):
        yield from _host_ports(container, ports, f"{path}[{index}]")


def _init_containers(spec: Manifest, parts: _PodParts, path: str) -> Iterator[Cause]:
    seen = {container["name"] for container in spec.get("containers") or ()}
    for index, container in enumerate(spec.get("initContainers") or ()):
        at, name, restart = f"{path}[{index}]", container["name"], container.get("restartPolicy")
        yield from _container(container, parts, at)
        if enabled("ContainerRestartRules"):
            yield from _restart_policy(container, at)
        elif restart is not None and restart != "Always":
            yield not_supported(f"{at}.restartPolicy", restart, ("Always",))
        if name in seen:
            yield duplicate(f"{at}.name", name)
        elif name:
            seen.add(name)
        # Init containers run one after the other; upstream gives each the index of the first.
        yield from _host_ports(container, set(), f"{path}[0]")
        if restart == "Always":
            yield from validate_probes(container, at, parts.grace_seconds)
        else:
            yield from NO_PROBES(container, at)


def _ephemeral_containers(spec: Manifest, parts: _PodParts, path: str) -> Iterator[Cause]:
    others = {container["name"] for container in spec.get("containers") or ()}
    others |= {container["name"] for container in spec.get("initContainers") or ()}
    seen = set(others)
    for index, container in enumerate(spec["ephemeralContainers"]):
        at, name = f"{path}[{index}]", container["name"]
        yield from _container(container, parts, at)
        yield from IMAGE_OF_POD(container, at)
        if name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)
        if (target := container.get("targetContainerName")) and target not in others:
            yield not_found(f"{at}.targetContainerName", target)
        yield from _EPHEMERAL(container, at)


def validate_host_network(spec: Manifest, path: str, *, is_pod: bool) -> Iterator[Cause]:
    """Validate the ports of a pod in the node's network: each is the node's own. In a template, ``hostPort``
    may be left out (validatePodHostNetworkDeps)."""
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports", ())):
            host = port.get("hostPort", 0)
            if (is_pod or host) and host != port["containerPort"]:
                at = f"{path}.containers[{index}].ports[{number}].hostPort"
                yield invalid(at, host, "must match `containerPort` when `hostNetwork` is true")


def _container(container: Manifest, parts: _PodParts, path: str) -> Iterator[Cause]:
    """Yield the faults that validateContainerCommon reports."""
    yield from _CONTAINER(container, path)
    yield from validate_mounts(container, parts.volumes, path)
    yield from _PULL_POLICY(container, path)
    yield from validate_container_resources(container.get("resources"), f"{path}.resources", parts.claims)
    if "resizePolicy" in container:
        yield from _resize_policy(container["resizePolicy"], parts.restart_policy, f"{path}.resizePolicy")
    if container.get("securityContext"):
        yield from validate_container_security(
            container["securityContext"], f"{path}.securityContext", host_users=parts.host_users
        )


def _ports(ports: list[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults that validateContainerPorts reports."""
    seen: set[str] = set()
    for index, port in enumerate(ports):
        at, name = f"{path}[{index}]", port.get("name", "")
        if name in seen:
            yield duplicate(f"{at}.name", name)
        elif name:
            problems = [*check_name(names.port_name, name, f"{at}.name")]
            yield from problems
            if not problems:
                seen.add(name)
        yield from _PORT(port, at)


def _host_ports(container: Manifest, seen: set[tuple[str, str, int]], path: str) -> Iterator[Cause]:
    """Yield the faults that AccumulateUniqueHostPorts reports."""
    for index, port in enumerate(container.get("ports", ())):
        if port.get("hostPort"):
            identity = (port.get("protocol", "TCP"), port.get("hostIP", ""), port["hostPort"])
            if identity in seen:
                yield duplicate(f"{path}.ports[{index}].hostPort", "/".join(map(str, identity)))
            seen.add(identity)


def _resize_policy(policies: list[Manifest], restart_policy: str, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        name, restart = policy["resourceName"], policy["restartPolicy"]
        if name in seen:
            yield duplicate(f"{path}[{index}]", name)
        seen.add(name)
        yield from _RESIZE_POLICY(policy, path)
        if restart_policy == "Never" and restart != "NotRequired":
            yield invalid(path, restart, "must be 'NotRequired' when `restartPolicy` is 'Never'")


_PORT: Final = all_of(
    needed("containerPort", check_port_number),
    filled("hostPort", check_port_number),
    field("protocol", choice(PROTOCOLS), default="TCP"),
)
_CONTAINER: Final = all_of(
    needed("name", named_by(names.dns_label)),
    must_have("image"),
    field("terminationMessagePolicy", choice(MESSAGE_POLICIES, as_given=True), default="File"),
    filled("ports", _ports),
    ENVIRONMENT,
)
"""What all containers have in common before their mounts."""
_MAX_RESTART_RULES: Final = 20
_PULL_POLICY: Final = field("imagePullPolicy", choice(PULL_POLICIES), default="Always")
_RESIZE_POLICY: Final = all_of(
    field("resourceName", choice(("cpu", "memory")), shown=""),
    field("restartPolicy", choice(("NotRequired", "RestartContainer")), shown=""),
)
_NO_RESTART_POLICY: Final = may_not_have(
    "restartPolicy", detail="may not be set for non-init containers", even_empty=True
)
_EXIT_CODES: Final = needed(
    "exitCodes",
    field("operator", one_of(("In", "NotIn")), default=""),
    field("values", items(most=255)),
    detail="must be specified",
)


def _restart_policy(container: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateContainerRestartPolicy reports."""
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None:
        if rules:
            detail = "must specify restartPolicy when restart rules are used"
            yield required(f"{path}.restartPolicy", detail)
        return
    if policy not in RESTART_POLICIES:
        yield not_supported(f"{path}.restartPolicy", policy, RESTART_POLICIES)
    path = f"{path}.restartPolicyRules"
    if len(rules) > _MAX_RESTART_RULES:
        yield too_many(path, len(rules), _MAX_RESTART_RULES)
    all_too = enabled("RestartAllContainersOnContainerExits")
    actions = ("Restart", "RestartAllContainers") if all_too else ("Restart",)
    for index, rule in enumerate(rules):
        yield from _EXIT_CODES(rule, f"{path}[{index}]")
        if rule.get("action", "") not in actions:
            yield not_supported(f"{path}[{index}].action", rule.get("action", ""), actions)


IMAGE_OF_POD: Final = field(
    "image",
    where(lambda image: image == image.strip(), "must not have leading or trailing whitespace"),
)
"""validateContainerOnlyForPod: a template may have such an image."""
_NOT_EPHEMERAL: Final = "cannot be set for an Ephemeral Container"
_EPHEMERAL: Final = all_of(
    may_not_have(
        *("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"),
        *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"),
        detail=_NOT_EPHEMERAL,
    ),
    each("volumeMounts", may_not_have("subPath", "subPathExpr", detail=_NOT_EPHEMERAL)),
)
"""What an ephemeral container may not have (allowedEphemeralContainerFields has the other fields)."""
