"""Validation of the security contexts of pods and containers, and of what a Windows pod may not have.

Upstream: ValidateSecurityContext, validatePodSpecSecurityContext and validateWindows in
pkg/apis/core/validation/validation.go, v1.34.
"""

import re
from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required

_ID_RANGE: Final = "must be between 0 and 2147483647, inclusive"
_MAX_ID: Final = 2**31 - 1
_SYSCTL: Final = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_MAX_SYSCTL: Final = 253
_PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_NOT_ON_WINDOWS: Final = "cannot be set for a windows pod"
_POD_FIELDS: Final = (
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
)
_CONTAINER_FIELDS: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)


def validate_container_security(context: Manifest, path: str) -> Iterator[Cause]:
    yield from _ids(context, ("runAsUser", "runAsGroup"), path)
    if context.get("procMount", "Default") not in ("Default", "Unmasked"):
        yield not_supported(f"{path}.procMount", context["procMount"], ("Default", "Unmasked"))
    if context.get("allowPrivilegeEscalation") is False:
        shown = core_struct("SecurityContext", context)
        if context.get("privileged"):
            detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield invalid(path, shown, detail, whole=True)
        if "CAP_SYS_ADMIN" in (context.get("capabilities", {}).get("add") or ()):
            detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            yield invalid(path, shown, detail, whole=True)
    yield from _profile(context, "seccompProfile", "seccomp type", path)
    yield from _profile(context, "appArmorProfile", "AppArmor type", path)


def validate_pod_security(spec: Manifest, path: str) -> Iterator[Cause]:
    context, at = spec.get("securityContext") or {}, f"{path}.securityContext"
    yield from _ids(context, ("fsGroup", "runAsUser", "runAsGroup"), at)
    for index, group in enumerate(context.get("supplementalGroups", ())):
        if not 0 <= group <= _MAX_ID:
            yield invalid(f"{at}.supplementalGroups[{index}]", group, _ID_RANGE)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{at}.shareProcessNamespace", True, detail)
    yield from _sysctls(context.get("sysctls", ()), f"{at}.sysctls")
    policies = ("Always", "OnRootMismatch")
    if context.get("fsGroupChangePolicy", "Always") not in policies:
        yield not_supported(f"{at}.fsGroupChangePolicy", context["fsGroupChangePolicy"], policies)
    yield from _profile(context, "seccompProfile", "seccomp type", at)
    yield from _profile(context, "appArmorProfile", "AppArmor type", at)
    choices = ("Merge", "Strict")
    if context.get("supplementalGroupsPolicy", "Merge") not in choices:
        yield not_supported(f"{at}.supplementalGroupsPolicy", context["supplementalGroupsPolicy"], choices)


def validate_operating_system(spec: Manifest, path: str) -> Iterator[Cause]:
    name = spec.get("os", {}).get("name")
    if name is None:
        return
    if not name:
        yield required(f"{path}.os.name", "cannot be empty")
    elif name not in ("linux", "windows"):
        yield not_supported(f"{path}.os.name", name, ("linux", "windows"))
    elif name == "windows":
        yield from _windows(spec, path)
    else:
        yield from _linux(spec, path)


def _linux(spec: Manifest, path: str) -> Iterator[Cause]:
    detail = "windows options cannot be set for a linux pod"
    if "windowsOptions" in (spec.get("securityContext") or {}):
        yield forbidden(f"{path}.securityContext.windowsOptions", detail)
    for at, context in _container_contexts(spec, path):
        if "windowsOptions" in context:
            yield forbidden(f"{at}.windowsOptions", detail)


def _windows(spec: Manifest, path: str) -> Iterator[Cause]:
    context, at = spec.get("securityContext") or {}, f"{path}.securityContext"
    for field in ("appArmorProfile", "seLinuxOptions"):
        if field in context:
            yield forbidden(f"{at}.{field}", _NOT_ON_WINDOWS)
    if "hostUsers" in spec:
        yield forbidden(f"{path}.hostUsers", _NOT_ON_WINDOWS)
    for field in ("hostPID", "hostIPC"):
        if spec.get(field):
            yield forbidden(f"{path}.{field}", _NOT_ON_WINDOWS)
    for field in _POD_FIELDS:
        if field in context:
            yield forbidden(f"{at}.{field}", _NOT_ON_WINDOWS)
    if "shareProcessNamespace" in spec:
        yield forbidden(f"{path}.shareProcessNamespace", _NOT_ON_WINDOWS)
    for place, container in _container_contexts(spec, path):
        for field in _CONTAINER_FIELDS:
            if field in container:
                yield forbidden(f"{place}.{field}", _NOT_ON_WINDOWS)


def _container_contexts(spec: Manifest, path: str) -> Iterator[tuple[str, Manifest]]:
    for kind in ("containers", "initContainers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            if container.get("securityContext"):
                yield f"{path}.{kind}[{index}].securityContext", container["securityContext"]


def _ids(context: Manifest, fields: tuple[str, ...], path: str) -> Iterator[Cause]:
    for field in fields:
        if not 0 <= context.get(field, 0) <= _MAX_ID:
            yield invalid(f"{path}.{field}", context[field], _ID_RANGE)


def _sysctls(sysctls: list[Manifest], path: str) -> Iterator[Cause]:
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
        seen.add(name)


def _profile(context: Manifest, field: str, what: str, path: str) -> Iterator[Cause]:
    """validateSeccompProfileField and ValidateAppArmorProfileField."""
    profile, at = context.get(field), f"{path}.{field}"
    if profile is None:
        return
    kind = profile.get("type", "")
    if kind == "Localhost":
        if not profile.get("localhostProfile"):
            yield required(f"{at}.localhostProfile", f"must be set when {what} is Localhost")
    elif "localhostProfile" in profile:
        yield invalid(
            f"{at}.localhostProfile",
            core_struct("SeccompProfile", profile),
            f"can only be set when {what} is Localhost",
            whole=True,
        )
    if not kind:
        yield required(f"{at}.type", f"type is required when {field} is set")
    elif kind not in _PROFILES:
        yield not_supported(f"{at}.type", kind, _PROFILES)
