"""The selectors of DeviceClasses."""

from collections.abc import Mapping

from simulator.api import Manifest
from simulator.cluster.other_objects import OtherObjects
from simulator.plugins.dynamic_resources.resource_claim import selector_expressions

DEVICE_CLASSES = "deviceclasses.resource.k8s.io"


def device_classes(objects: OtherObjects) -> Mapping[str, Manifest]:
    return objects.objects(DEVICE_CLASSES)


def class_expressions(objects: OtherObjects) -> Mapping[str, tuple[str, ...]]:
    """Return the CEL expressions of each class, by its name."""
    return objects.derived(_class_expressions, DEVICE_CLASSES)


def _class_expressions(objects: OtherObjects) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(each or "" for each in selector_expressions(manifest.get("spec") or {}))
        for name, manifest in device_classes(objects).items()
    }
