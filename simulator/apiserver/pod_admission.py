"""What the admission plugins of the API server add to a new pod."""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver import priority
from simulator.apiserver.limit_ranger import LIMIT_RANGES, set_default_resources
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resources import PRIORITY_CLASSES
from simulator.apiserver.runtime_class import RUNTIME_CLASSES, apply_runtime_class

READ_OF_PODS: Final = (LIMIT_RANGES, PRIORITY_CLASSES.id, RUNTIME_CLASSES)
"""The resources that :func:`complete_pod` reads."""


def complete_pod(pod: Manifest, overlay: Overlay, *, strict: bool) -> None:
    """Set the default requests and limits of the namespace (LimitRanger), the priority (Priority), and the
    overhead and the scheduling of the RuntimeClass (RuntimeClass). Raises StatusError. ``strict``: see
    :func:`simulator.apiserver.runtime_class.apply_runtime_class`."""
    set_default_resources(pod, overlay)
    priority.resolve_priority(pod, overlay)
    apply_runtime_class(pod, overlay, strict=strict)
