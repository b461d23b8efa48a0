"""Validation of the security contexts of pods and containers.

Upstream: ValidateSecurityContext, validatePodSpecSecurityContext and validateHostUsers in
pkg/apis/core/validation/validation.go.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import GROUP_CHANGE_POLICIES, GROUPS_POLICIES, PROC_MOUNTS, PROFILES
from simulator.apiserver.field_checks import check_descending_path
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.kinds.pods.parts import containers_with_paths
from simulator.apiserver.shapes import all_of, each, field, in_range, one_of
from simulator.apiserver.status import (
    Cause,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)

_SYSCTL: Final = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_MAX_SYSCTL: Final = 253
_MAX_PROFILE: Final = 4095
"""Maximum length of a localhostProfile of AppArmor."""
_NODE_SYSCTLS: Final = (
    ("hostNetwork", ("net.",)),
    ("hostIPC", ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")),
)
"""Sysctls that belong to a namespace, by the field with which a pod shares that of its node."""


def validate_container_security(context: Manifest, path: str, *, host_users: bool) -> Iterator[Cause]:
    yield from _IDS(context, path)
    mount = context.get("procMount", "Default")
    if mount not in PROC_MOUNTS:
        yield not_supported(f"{path}.procMount", mount, PROC_MOUNTS)
    elif host_users and mount == "Unmasked":
        yield invalid(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`")
    yield from _SECCOMP(context, path)
    if context.get("allowPrivilegeEscalation") is False:
        given = {
            "`privileged` to true": context.get("privileged"),
            "`capabilities.Add` CAP_SYS_ADMIN": "CAP_SYS_ADMIN"
            in (context.get("capabilities", {}).get("add") or ()),
        }
        for what in filter(given.get, given):
            detail = f"cannot set `allowPrivilegeEscalation` to false and {what}"
            yield invalid(path, core_struct("SecurityContext", context), detail, whole=True)
    yield from _APP_ARMOR(context, path)


def _shares_processes(spec: Manifest, path: str) -> Iterable[Cause]:
    if not spec.get("hostPID") or not spec.get("shareProcessNamespace"):
        return ()
    detail = "ShareProcessNamespace and HostPID cannot both be enabled"
    return (invalid(f"{path}.securityContext.shareProcessNamespace", True, detail),)


def validate_host_users(spec: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults of hostUsers: with users of its own, a pod shares none of its node's namespaces and
    has no raw block devices (validateHostUsers)."""
    if spec.get("hostUsers") is not False:
        return
    detail = "when `hostUsers` is false"
    for name, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(name):
            yield forbidden(f"{path}.{shown}", detail)
    for container, at in containers_with_paths(spec, path):
        if container.get("volumeDevices"):
            yield forbidden(f"{at}.volumeDevices", detail)


def _sysctls(spec: Manifest, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, sysctl in enumerate(spec.get("securityContext", {}).get("sysctls", ())):
        name, at = sysctl["name"], f"{path}.securityContext.sysctls[{index}].name"
        if not name:
            yield required(at)
        elif len(name) > _MAX_SYSCTL or not re.match(_SYSCTL, name):
            detail = f"must have at most {_MAX_SYSCTL} characters and match regex {_SYSCTL}"
            yield invalid(at, name, detail)
        elif name in seen:
            yield duplicate(at, name)
        yield from _host_sysctl(spec, name, at)
        seen.add(name)


def _host_sysctl(spec: Manifest, name: str, path: str) -> Iterable[Cause]:
    """ValidateHostSysctl: what belongs to a namespace that the pod shares with its node is the node's. The
    prefixes are in component-helpers/node/util/sysctl/namespace.go."""
    plain = name.replace("/", ".") if "/" in name.partition(".")[0] else name
    for shared, prefixes in _NODE_SYSCTLS:
        if spec.get(shared) and plain.startswith(prefixes):
            return (invalid(path, name, f"may not be specified when '{shared}' is true"),)
    return ()


def _seccomp(profile: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateSeccompProfileField reports."""
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


def validate_app_armor(profile: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateAppArmorProfileField reports."""
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


_ID: Final = in_range(0, 2**31 - 1)
_IDS: Final = all_of(field("runAsUser", _ID), field("runAsGroup", _ID))
_SECCOMP: Final = field("seccompProfile", _seccomp)
_APP_ARMOR: Final = field("appArmorProfile", validate_app_armor)
POD_SECURITY: Final = all_of(
    field("securityContext", field("fsGroup", _ID), _IDS, each("supplementalGroups", _ID)),
    _shares_processes,
    _sysctls,
    field(
        "securityContext",
        field("fsGroupChangePolicy", one_of(GROUP_CHANGE_POLICIES)),
        _SECCOMP,
        _APP_ARMOR,
        field("supplementalGroupsPolicy", one_of(GROUPS_POLICIES)),
        field("seLinuxChangePolicy", one_of(("MountOption", "Recursive"))),
    ),
)
