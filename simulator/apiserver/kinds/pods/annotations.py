"""Validation of the annotations of pods that have a meaning.

Upstream: ValidatePodSpecificAnnotations and what it calls in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.paths import check_descending_path
from simulator.apiserver.status import Cause, forbidden, invalid

MIRROR: Final = "kubernetes.io/config.mirror"
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_SECCOMP_PROFILES: Final = ("runtime/default", "docker/default", "unconfined")
_APP_ARMOR_PROFILES: Final = ("", "runtime/default", "unconfined")
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")


def validate_pod_annotations(annotations: dict[str, str], spec: Manifest, path: str) -> Iterator[Cause]:
    if not annotations:
        return
    if MIRROR in annotations and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{path}[{MIRROR}]", annotations[MIRROR], detail)
    if DELETION_COST in annotations and not _is_int32(annotations[DELETION_COST]):
        yield invalid(f"{path}[{DELETION_COST}]", annotations[DELETION_COST], "must be a 32bit integer")
    for key, profile in annotations.items():
        if key == SECCOMP_POD or key.startswith(SECCOMP_CONTAINER):
            yield from _seccomp(profile, f"{path}.{key}")
        elif key.startswith(APP_ARMOR):
            yield from _app_armor(key, profile, spec, path)


def validate_pod_annotations_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """ValidatePodSpecificAnnotationUpdates: some annotations stay; all are validated once more."""
    path = "metadata.annotations"
    before, after = (pod["metadata"].get("annotations", {}) for pod in (old, new))
    changed = [key for key in sorted(before) if before[key] != after.get(key)]
    added = [key for key in sorted(after) if key not in before]
    for verb, keys in (("remove or update", changed), ("add", added)):
        for key in keys:
            if key.startswith(APP_ARMOR):
                yield forbidden(f"{path}[{key}]", f"may not {verb} AppArmor annotations")
            if key == MIRROR:
                yield forbidden(f"{path}[{key}]", f"may not {verb} mirror pod annotation")
    yield from validate_pod_annotations(after, new["spec"], path)


def _is_int32(text: str) -> bool:
    """Whether Go's ParseInt accepts the text, which may not begin with a plus or a zero."""
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or (text[0] == "0" and len(text) > 1):
        return False
    return -(1 << 31) <= int(text[:20]) < 1 << 31


def _seccomp(profile: str, path: str) -> Iterator[Cause]:
    if profile in _SECCOMP_PROFILES:
        return
    if profile.startswith("localhost/"):
        yield from check_descending_path(profile.removeprefix("localhost/"), path)
    else:
        yield invalid(path, profile, "must be a valid seccomp profile")


def _app_armor(key: str, profile: str, spec: dict[str, Any], path: str) -> Iterator[Cause]:
    name = key.removeprefix(APP_ARMOR)
    if not any(each["name"] == name for kind in _CONTAINERS for each in spec.get(kind) or ()):
        yield invalid(f"{path}[{key}]", name, "container not found")
    if profile not in _APP_ARMOR_PROFILES and not profile.startswith("localhost/"):
        yield invalid(f"{path}[{key}]", profile, f'invalid AppArmor profile name: "{profile}"')
