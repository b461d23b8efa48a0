"""AppArmor and seccomp profiles that older clients name in annotations of a pod.

Upstream: applyAppArmorVersionSkew in pkg/registry/core/pod/strategy.go, ApparmorFieldForAnnotation in
pkg/api/pod/util.go, and validateSeccompAnnotationsAndFields and
validateAppArmorAnnotationsAndFieldsMatchOnCreate in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.annotations import APP_ARMOR, SECCOMP_CONTAINER, SECCOMP_POD
from simulator.apiserver.kinds.pods.parts import containers_with_paths
from simulator.apiserver.kinds.pods.security import validate_app_armor
from simulator.apiserver.status import Cause, forbidden

_LOCAL: Final = "localhost/"
_APP_ARMOR_VALUES: Final = {"Unconfined": ("unconfined",), "RuntimeDefault": ("runtime/default",)}
_SECCOMP_VALUES: Final = {
    "Unconfined": ("unconfined",),
    "RuntimeDefault": ("runtime/default", "docker/default"),
}


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
