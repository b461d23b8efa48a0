"""Validation of the annotations of pods that have a meaning, and the AppArmor and seccomp profiles that older
clients name in them.

Upstream: ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields and
validateAppArmorAnnotationsAndFieldsMatchOnCreate in pkg/apis/core/validation/validation.go,
applyAppArmorVersionSkew in pkg/registry/core/pod/strategy.go and ApparmorFieldForAnnotation in
pkg/api/pod/util.go."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.field_checks import check_descending_path
from simulator.apiserver.kinds.pods.parts import containers_with_paths
from simulator.apiserver.kinds.pods.security import validate_app_armor
from simulator.apiserver.status import Cause, forbidden, invalid

MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of a pod that a kubelet made of a file (a static pod)."""
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_SECCOMP_PROFILES: Final = ("runtime/default", "docker/default", "unconfined")
_APP_ARMOR_PROFILES: Final = ("", "runtime/default", "unconfined")
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_LOCAL: Final = "localhost/"
_APP_ARMOR_VALUES: Final = {"Unconfined": ("unconfined",), "RuntimeDefault": ("runtime/default",)}
_SECCOMP_VALUES: Final = {
    "Unconfined": ("unconfined",),
    "RuntimeDefault": ("runtime/default", "docker/default"),
}


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


def copy_app_armor_annotations(pod: Manifest) -> None:
    """Give the containers the AppArmor profiles that only annotations name."""
    for container, _, profile in _annotated(pod):
        if profile and profile != _profile_of(pod["spec"], "appArmorProfile"):
            container.setdefault("securityContext", {})["appArmorProfile"] = profile


def validate_profiles_match(annotations: dict[str, str], spec: Manifest, path: str) -> Iterator[Cause]:
    """Yield a fault if an annotation and a field both name a profile, and not the same one."""
    if not annotations:
        return
    places = [(spec, path, SECCOMP_POD)]
    containers = [*containers_with_paths(spec, path)]
    places += [(each, at, f"{SECCOMP_CONTAINER}{each['name']}") for each, at in containers]
    for holder, at, key in places:
        profile = _profile_of(holder, "seccompProfile")
        if profile and key in annotations:
            field = f"{at}.securityContext.seccompProfile"
            yield from _match("seccomp", annotations[key], profile, field, _SECCOMP_VALUES)
    for container, at in containers:
        profile = _profile_of(container, "appArmorProfile") or _profile_of(spec, "appArmorProfile")
        key = f"{APP_ARMOR}{container['name']}"
        if profile and key in annotations:
            field = f"{at}.securityContext.appArmorProfile"
            yield from _match("apparmor", annotations[key], profile, field, _APP_ARMOR_VALUES)


def _match(
    what: str, annotation: str, profile: Manifest, path: str, values: Mapping[str, tuple[str, ...]]
) -> Iterator[Cause]:
    kind = profile.get("type", "")
    is_local = kind == "Localhost"
    is_of_type = annotation.startswith(_LOCAL) if is_local else annotation in values.get(kind, (annotation,))
    if not is_of_type:
        yield forbidden(f"{path}.type", f"{what} type in annotation and field must match")
    elif is_local and annotation.removeprefix(_LOCAL) != profile.get("localhostProfile"):
        yield forbidden(f"{path}.localhostProfile", f"{what} profile in annotation and field must match")


def _annotated(pod: Manifest) -> Iterator[tuple[Manifest, str, Manifest | None]]:
    """Yield the containers without a profile of their own whose AppArmor profile is in an annotation: with
    its key and the profile, if that is valid."""
    spec, annotations = pod["spec"], pod["metadata"].get("annotations") or {}
    for container, _ in containers_with_paths(spec, ""):
        key = f"{APP_ARMOR}{container.get('name', '')}"
        if key in annotations and not _profile_of(container, "appArmorProfile"):
            yield container, key, _app_armor_profile(annotations[key])


def _app_armor_profile(annotation: str) -> Manifest | None:
    for kind, (text,) in _APP_ARMOR_VALUES.items():
        if annotation == text:
            return {"type": kind}
    profile = {"type": "Localhost", "localhostProfile": annotation.removeprefix(_LOCAL)}
    is_valid = annotation.startswith(_LOCAL) and not [*validate_app_armor(profile, "")]
    return profile if is_valid else None


def _profile_of(holder: Manifest, field: str) -> Manifest | None:
    profile: Manifest | None = (holder.get("securityContext") or {}).get(field)
    return profile
