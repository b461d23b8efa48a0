"""Actions on existing objects, with the rules of kubectl. Each makes one write through
:mod:`schedviz.api.write`."""

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from schedviz.api import write
from schedviz.store import Sandbox
from schedviz.web.forms.notation import taints
from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES


def cordon(sandbox: Sandbox, node: str, wanted: bool = True) -> None:
    write.patch(sandbox, NODES.id, node, {"spec": {"unschedulable": wanted or None}})


def taint(sandbox: Sandbox, node: str, text: str) -> None:
    """Add or remove a taint of a node.

    text: ``key=value:Effect`` adds a taint. ``key=value:Effect-``, ``key:Effect-`` and ``key-`` remove one.
    Raises ValidationError for an invalid text, StatusError."""
    remove = text.endswith("-")
    text = text.removesuffix("-")
    key_only = remove and ":" not in text
    named = [{"key": text.partition("=")[0]}] if key_only and text else taints(text)
    if not named:
        raise ValidationError(gettext("Write the taint as key=value:Effect."))

    def change(old: Manifest) -> Manifest:
        present = (old.get("spec") or {}).get("taints") or []
        kept = [each for each in present if not any(same_taint(each, one) for one in named)]
        wanted = kept if remove else [*kept, *named]
        spec = {**(old.get("spec") or {}), "taints": wanted}
        return {**old, "spec": spec if wanted else {k: v for k, v in spec.items() if k != "taints"}}

    write.edit(sandbox, NODES.id, node, change)


def same_taint(present: Manifest, named: Manifest) -> bool:
    return present.get("key") == named["key"] and named.get("effect") in (None, present.get("effect"))


def set_metadata(sandbox: Sandbox, resource: Resource, key: str, field: str, changes: Iterable[str]) -> None:
    """Change the labels or annotations of an object.

    field: "labels" or "annotations". changes: ``key=value``, or ``key-`` to remove the key. Raises
    ValidationError, StatusError."""
    wanted: dict[str, str | None] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals and not change.endswith("-"):
            raise ValidationError(gettext("“%(item)s” does not have the form key=value.") % {"item": change})
        wanted[name if equals else change.removesuffix("-")] = value if equals else None
    write.patch(sandbox, resource.id, key, {"metadata": {field: wanted}})


def scale(sandbox: Sandbox, resource: Resource, key: str, replicas: int) -> None:
    """Set ``spec.replicas``. Raises ValidationError for an object without this field, StatusError."""

    def change(old: Manifest) -> Manifest:
        if "replicas" not in (old.get("spec") or {}):
            raise ValidationError(gettext("A %(kind)s cannot be scaled.") % {"kind": resource.kind})
        return {**old, "spec": {**old["spec"], "replicas": replicas}}

    write.edit(sandbox, resource.id, key, change)
