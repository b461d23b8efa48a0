"""The RuntimeClass admission plugin: a new pod gets the overhead, the node selector and the tolerations of
its RuntimeClass.

Upstream: plugin/pkg/admission/runtimeclass/admission.go and pkg/util/tolerations/tolerations.go.
"""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.apiserver.kinds.pods.strategy import PODS
from simulator.apiserver.kinds.runtime_classes import RUNTIME_CLASSES
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.status import Forbidden
from simulator.objects.pod_requests import parse_resource_list

_OTHER_OVERHEAD: Final = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_OWN_OVERHEAD: Final = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


class RuntimeClass(AdmissionPlugin):
    name = "RuntimeClass"
    handles = {PODS.id: ("CREATE",)}

    def admit(self, request: Attributes) -> None:
        _apply_runtime_class(request.object, request.overlay, strict=request.is_strict)


def _apply_runtime_class(pod: Manifest, overlay: Overlay, *, strict: bool) -> None:
    """Set the overhead and the scheduling of the pod's RuntimeClass. Raises Forbidden for what contradicts
    it.

    ``strict``: also for an unknown class, and for an overhead without a class that has it. Otherwise the pod
    keeps what it has, as one of another cluster whose classes were not exported."""
    spec, name = pod["spec"], pod["metadata"].get("name", "")
    chosen = _find_class(spec.get("runtimeClassName"), overlay)
    if chosen is None and spec.get("runtimeClassName") is not None and strict:
        detail = f'pod rejected: RuntimeClass "{spec["runtimeClassName"]}" not found'
        raise Forbidden(PODS.id, name, detail)
    overhead = (chosen or {}).get("overhead")
    if overhead is not None:
        fixed, given = overhead.get("podFixed") or {}, spec.get("overhead")
        if given is not None and parse_resource_list(given) != parse_resource_list(fixed):
            raise Forbidden(PODS.id, name, _OTHER_OVERHEAD)
        if fixed:
            spec["overhead"] = {**fixed}
    elif spec.get("overhead") is not None and strict:
        raise Forbidden(PODS.id, name, _OWN_OVERHEAD)
    scheduling = (chosen or {}).get("scheduling")
    if scheduling:
        _set_scheduling(spec, scheduling, name)


def _find_class(name: str | None, overlay: Overlay) -> Manifest | None:
    return overlay.get(RUNTIME_CLASSES.id, name) if name is not None else None


def _set_scheduling(spec: Manifest, scheduling: Manifest, name: str) -> None:
    selector = {**(spec.get("nodeSelector") or {})}
    for key, value in sorted((scheduling.get("nodeSelector") or {}).items()):
        if selector.setdefault(key, value) != value:
            raise Forbidden(
                PODS.id,
                name,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}",
            )
    if selector:
        spec["nodeSelector"] = selector
    tolerations = merge_tolerations(spec.get("tolerations") or [], scheduling.get("tolerations") or [])
    if tolerations:
        spec["tolerations"] = tolerations


def merge_tolerations(first: list[Manifest], second: list[Manifest]) -> list[Manifest]:
    """Return the tolerations of both lists, without those that another one covers (MergeTolerations)."""
    together, merged = [*first, *second], list[Manifest]()
    for place, toleration in enumerate(together):
        later = (each for each in together[place + 1 :] if each != toleration)
        if not any(covers(each, toleration) for each in (*merged, *later)):
            merged.append(toleration)
    return merged


def covers(wide: Manifest, narrow: Manifest) -> bool:
    """Whether the first toleration tolerates all that the second does (isSuperset)."""
    if wide == narrow:
        return True
    exists = wide.get("operator") == "Exists"
    if wide.get("key", "") != narrow.get("key", "") and not (exists and not wide.get("key")):
        return False
    if wide.get("effect", "") not in ("", narrow.get("effect", "")):
        return False
    seconds = wide.get("tolerationSeconds")
    if wide.get("effect") == "NoExecute" and seconds is not None:
        other = narrow.get("tolerationSeconds")
        if other is None or other > seconds:
            return False
    return exists or (narrow.get("operator") == "Equal" and narrow.get("value", "") == wide.get("value", ""))
