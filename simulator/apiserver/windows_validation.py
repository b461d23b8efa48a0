"""Validation of the operating system of pods: what a Linux and a Windows pod may not have, and the options of
Windows.

Upstream: validateOS, validateLinux, validateWindows, validateWindowsSecurityContextOptions and
validateWindowsHostProcessPod in pkg/apis/core/validation/validation.go, v1.34.
"""

import re
from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.pod_containers import containers_with_paths
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required

_NOT_ON_WINDOWS: Final = "cannot be set for a windows pod"
_BEFORE_HOST_FIELDS: Final = ("appArmorProfile", "seLinuxOptions")
_HOST_FIELDS: Final = ("hostUsers", "hostPID", "hostIPC")
_POD_FIELDS: Final = ("seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls")
_LAST_POD_FIELDS: Final = (
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
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
_MAX_SPEC_KIB: Final = 64
_MAX_DOMAIN: Final = 256
_MAX_USER: Final = 104
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_NET_BIOS: Final = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS: Final = re.compile(
    r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*"
)
_BAD_USER: Final = re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def validate_operating_system(spec: Manifest, path: str) -> Iterator[Cause]:
    system = spec.get("os")
    if system is None:
        return
    name = system.get("name", "")
    if not name:
        yield required(f"{path}.os.name", "cannot be empty")
    elif name not in ("linux", "windows"):
        yield not_supported(f"{path}.os", name, ("linux", "windows"))
    elif name == "windows":
        yield from _windows(spec, path)
    else:
        yield from _linux(spec, path)


def _linux(spec: Manifest, path: str) -> Iterator[Cause]:
    detail = "windows options cannot be set for a linux pod"
    if "windowsOptions" in (spec.get("securityContext") or {}):
        yield forbidden(f"{path}.securityContext.windowsOptions", detail)
    for at, context in container_contexts(spec, path):
        if "windowsOptions" in context:
            yield forbidden(f"{at}.windowsOptions", detail)


def _windows(spec: Manifest, path: str) -> Iterator[Cause]:
    context, at = spec.get("securityContext") or {}, f"{path}.securityContext"
    places = [(context, at, field) for field in _BEFORE_HOST_FIELDS]
    places += [(spec, path, field) for field in _HOST_FIELDS]
    places += [(context, at, field) for field in _POD_FIELDS]
    places += [(spec, path, "shareProcessNamespace")]
    places += [(context, at, field) for field in _LAST_POD_FIELDS]
    for place, container in container_contexts(spec, path):
        places += [(container, place, field) for field in _CONTAINER_FIELDS]
    yield from (forbidden(f"{at}.{field}", _NOT_ON_WINDOWS) for of, at, field in places if field in of)


def container_contexts(spec: Manifest, path: str) -> Iterator[tuple[str, Manifest]]:
    """Yield the security contexts of all containers."""
    for container, at in containers_with_paths(spec, path):
        if container.get("securityContext"):
            yield f"{at}.securityContext", container["securityContext"]


def validate_windows_options(options: Manifest | None, path: str) -> Iterator[Cause]:
    if not options:
        return
    if "gmsaCredentialSpecName" in options:
        at = f"{path}.gmsaCredentialSpecName"
        yield from check_name(names.dns_subdomain, options["gmsaCredentialSpecName"], at)
    spec, at = options.get("gmsaCredentialSpec"), f"{path}.gmsaCredentialSpec"
    if spec == "":
        yield invalid(at, spec, "gmsaCredentialSpec cannot be an empty string")
    elif spec and len(spec.encode()) > _MAX_SPEC_KIB * 1024:
        yield invalid(at, spec, f"gmsaCredentialSpec size must be under {_MAX_SPEC_KIB} KiB")
    if "runAsUserName" in options:
        user = options["runAsUserName"]
        yield from (invalid(f"{path}.runAsUserName", user, problem) for problem in _user_problems(user))


def _user_problems(text: str) -> Iterator[str]:
    domain, backslash, user = text.rpartition("\\")
    if not text:
        yield "runAsUserName cannot be an empty string"
    elif _CONTROL.search(text):
        yield "runAsUserName cannot contain control characters"
    elif "\\" in domain:
        yield "runAsUserName cannot contain more than one backslash"
    else:
        if len(domain) >= _MAX_DOMAIN:
            yield f"runAsUserName's Domain length must be under {_MAX_DOMAIN} characters"
        if backslash and not (_NET_BIOS.fullmatch(domain) or _DNS.fullmatch(domain)):
            yield "runAsUserName's Domain doesn't match the NetBios nor the DNS format"
        if not user:
            yield "runAsUserName's User cannot be empty"
        elif len(user) > _MAX_USER:
            yield f"runAsUserName's User length must not be longer than {_MAX_USER} characters"
        if user and not user.strip(". "):
            yield "runAsUserName's User cannot contain only periods or spaces"
        if _BAD_USER.search(user):
            yield "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


def validate_host_process(spec: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateWindowsHostProcessPod reports."""
    of_pod = _host_process(spec)
    containers = hosted = 0
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            own = _host_process(container)
            containers += 1
            if None not in (of_pod, own) and of_pod != own:
                shown = str(of_pod).lower()
                at = f"{path}.{kind}[{index}].securityContext.windowsOptions.hostProcess"
                yield invalid(
                    at, own, f"pod hostProcess value must be identical if both are specified, was {shown}"
                )
            hosted += bool(of_pod if own is None else own)
    if not hosted:
        return
    if hosted != containers:
        detail = (
            "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        )
        yield invalid(path, "", detail)
    if not spec.get("hostNetwork"):
        detail = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid(f"{path}.hostNetwork", False, detail)


def _host_process(of: Manifest) -> bool | None:
    options = (of.get("securityContext") or {}).get("windowsOptions") or {}
    value: bool | None = options.get("hostProcess")
    return value
