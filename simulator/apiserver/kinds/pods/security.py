"""Validation of the security contexts of pods and containers.

Upstream: ValidateSecurityContext, validatePodSpecSecurityContext and validateHostUsers in
pkg/apis/core/validation/validation.go, v1.34.
"""

import re
from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import GROUP_CHANGE_POLICIES, GROUPS_POLICIES, PROC_MOUNTS, PROFILES
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.kinds.pods.containers import containers_with_paths
from simulator.apiserver.paths import check_descending_path
from simulator.apiserver.status import (
    Cause,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)

_ID_RANGE: Final = "must be between 0 and 2147483647, inclusive"
_MAX_ID: Final = 2**31 - 1
_SYSCTL: Final = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_MAX_SYSCTL: Final = 253
_MAX_PROFILE: Final = 4095
"""Maximum length of a localhostProfile of AppArmor."""
_NET_SYSCTLS: Final = ("net.",)
_IPC_SYSCTLS: Final = ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")


def validate_container_security(context: Manifest, path: str, *, host_users: bool) -> Iterator[Cause]:
    yield from _ids(context, ("runAsUser", "runAsGroup"), path)
    if "procMount" in context:
        if context["procMount"] not in PROC_MOUNTS:
            yield not_supported(f"{path}.procMount", context["procMount"], PROC_MOUNTS)
        elif host_users and context["procMount"] == "Unmasked":
            detail = "`hostUsers` must be false to use `Unmasked`"
            yield invalid(f"{path}.procMount", "Unmasked", detail)
    yield from _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        shown = core_struct("SecurityContext", context)
        if context.get("privileged"):
            detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield invalid(path, shown, detail, whole=True)
        if "CAP_SYS_ADMIN" in (context.get("capabilities", {}).get("add") or ()):
            detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            yield invalid(path, shown, detail, whole=True)
    yield from validate_app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")


def validate_pod_security(spec: Manifest, path: str) -> Iterator[Cause]:
    context, at = spec.get("securityContext") or {}, f"{path}.securityContext"
    yield from _ids(context, ("fsGroup", "runAsUser", "runAsGroup"), at)
    for index, group in enumerate(context.get("supplementalGroups", ())):
        if not 0 <= group <= _MAX_ID:
            yield invalid(f"{at}.supplementalGroups[{index}]", group, _ID_RANGE)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{at}.shareProcessNamespace", True, detail)
    yield from _sysctls(spec, context.get("sysctls", ()), f"{at}.sysctls")
    yield from _choice(context, "fsGroupChangePolicy", GROUP_CHANGE_POLICIES, at)
    yield from _seccomp(context.get("seccompProfile"), f"{at}.seccompProfile")
    yield from validate_app_armor(context.get("appArmorProfile"), f"{at}.appArmorProfile")
    yield from _choice(context, "supplementalGroupsPolicy", GROUPS_POLICIES, at)
    yield from _choice(context, "seLinuxChangePolicy", ("MountOption", "Recursive"), at)


def validate_host_users(spec: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults of hostUsers: with users of its own, a pod shares none of its node's namespaces and
    has no raw block devices (validateHostUsers)."""
    if spec.get("hostUsers") is not False:
        return
    detail = "when `hostUsers` is false"
    for field, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(field):
            yield forbidden(f"{path}.{shown}", detail)
    for container, at in containers_with_paths(spec, path):
        if container.get("volumeDevices"):
            yield forbidden(f"{at}.volumeDevices", detail)


def _choice(context: Manifest, field: str, choices: tuple[str, ...], path: str) -> Iterator[Cause]:
    if field in context and context[field] not in choices:
        yield not_supported(f"{path}.{field}", context[field], choices)


def _ids(context: Manifest, fields: tuple[str, ...], path: str) -> Iterator[Cause]:
    for field in fields:
        if not 0 <= context.get(field, 0) <= _MAX_ID:
            yield invalid(f"{path}.{field}", context[field], _ID_RANGE)


def _sysctls(spec: Manifest, sysctls: list[Manifest], path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        name, at = sysctl["name"], f"{path}[{index}].name"
        if not name:
            yield required(at)
        elif len(name) > _MAX_SYSCTL or not re.match(_SYSCTL, name):
            detail = f"must have at most {_MAX_SYSCTL} characters and match regex {_SYSCTL}"
            yield invalid(at, name, detail)
        elif name in seen:
            yield duplicate(at, name)
        yield from _host_sysctl(spec, name, at)
        seen.add(name)


def _host_sysctl(spec: Manifest, name: str, path: str) -> Iterator[Cause]:
    """ValidateHostSysctl: what belongs to a namespace that the pod shares with its node is the node's. The
    prefixes are in component-helpers/node/util/sysctl/namespace.go."""
    plain = name.replace("/", ".") if "/" in name.partition(".")[0] else name
    if spec.get("hostNetwork") and plain.startswith(_NET_SYSCTLS):
        yield invalid(path, name, "may not be specified when 'hostNetwork' is true")
    elif spec.get("hostIPC") and plain.startswith(_IPC_SYSCTLS):
        yield invalid(path, name, "may not be specified when 'hostIPC' is true")


def _seccomp(profile: Manifest | None, path: str) -> Iterator[Cause]:
    """Yield the faults that validateSeccompProfileField reports."""
    if profile is None:
        return
    kind, at = profile.get("type", ""), f"{path}.localhostProfile"
    if not kind:
        yield required(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in PROFILES:
        yield not_supported(f"{path}.type", kind, PROFILES)
    if kind == "Localhost":
        if "localhostProfile" not in profile:
            yield required(at, "must be set when seccomp type is Localhost")
        else:
            yield from check_descending_path(profile["localhostProfile"], at)
    elif "localhostProfile" in profile:
        shown = core_struct("SeccompProfile", profile)
        yield invalid(at, shown, "can only be set when seccomp type is Localhost", whole=True)


def validate_app_armor(profile: Manifest | None, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateAppArmorProfileField reports."""
    if profile is None:
        return
    kind, local, at = profile.get("type", ""), profile.get("localhostProfile"), f"{path}.localhostProfile"
    if kind == "Localhost":
        if not local:
            yield required(at, "must be set when AppArmor type is Localhost")
        elif local.strip() != local:
            yield invalid(at, local, "must not be padded with whitespace")
        if local and len(local.encode()) > _MAX_PROFILE:
            yield too_long(at, _MAX_PROFILE)
    elif kind in PROFILES:
        if local is not None:
            yield invalid(at, local, "can only be set when AppArmor type is Localhost")
    elif not kind:
        yield required(f"{path}.type", "type is required when appArmorProfile is set")
    else:
        yield not_supported(f"{path}.type", kind, PROFILES)
