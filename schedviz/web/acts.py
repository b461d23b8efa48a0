"""What is done to objects that exist, as kubectl does it: each is one write of the API, or a few."""

from collections.abc import Iterable, Iterator
from typing import Final

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from schedviz.api import write
from schedviz.store import Sandbox
from schedviz.web.forms.base import taints
from simulator.api import Manifest
from simulator.apiserver.resources import NODES, PODS, Resource
from simulator.apiserver.status import NotFound, StatusError, TooManyRequests

MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of a static pod's mirror, which no drain can move."""
FINISHED: Final = ("Succeeded", "Failed")


def cordon(sandbox: Sandbox, node: str, wanted: bool = True) -> None:
    write.patch(sandbox, NODES.id, node, {"spec": {"unschedulable": wanted or None}})


def taint(sandbox: Sandbox, node: str, text: str) -> None:
    """``key=value:Effect``, or with a "-" at its end to take it away; then ``key-`` and ``key:Effect-`` do,
    too. Raises ValidationError for what is no taint, StatusError."""
    away = text.endswith("-")
    gone = text.removesuffix("-")
    bare = away and ":" not in gone
    named = [{"key": gone.partition("=")[0]}] if bare and gone else taints(gone)
    if not named:
        raise ValidationError(gettext("Say which taint: key=value:Effect."))

    def change(_: Resource, old: Manifest) -> Manifest:
        present = (old.get("spec") or {}).get("taints") or []
        kept = [each for each in present if not any(same_taint(each, one) for one in named)]
        wanted = kept if away else [*kept, *named]
        spec = {**(old.get("spec") or {}), "taints": wanted}
        return {**old, "spec": spec if wanted else {k: v for k, v in spec.items() if k != "taints"}}

    write.edit(sandbox, NODES.id, node, change)


def same_taint(present: Manifest, named: Manifest) -> bool:
    return present.get("key") == named["key"] and named.get("effect") in (None, present.get("effect"))


def mark(sandbox: Sandbox, resource: Resource, key: str, field: str, changes: Iterable[str]) -> None:
    """``field``: labels or annotations; ``changes``: ``key=value``, or ``key-`` to take it away. Raises
    ValidationError, StatusError."""
    wanted: dict[str, str | None] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals and not change.endswith("-"):
            raise ValidationError(gettext("“%(item)s” is not key=value.") % {"item": change})
        wanted[name if equals else change.removesuffix("-")] = value if equals else None
    write.patch(sandbox, resource.id, key, {"metadata": {field: wanted}})


def scale(sandbox: Sandbox, resource: Resource, key: str, replicas: int) -> None:
    """Raises ValidationError for a kind that has no replicas, StatusError."""

    def change(_: Resource, old: Manifest) -> Manifest:
        if "replicas" not in (old.get("spec") or {}):
            raise ValidationError(gettext("A %(kind)s cannot be scaled.") % {"kind": resource.kind})
        return {**old, "spec": {**old["spec"], "replicas": replicas}}

    write.edit(sandbox, resource.id, key, change)


def drain(sandbox: Sandbox, node: str) -> Iterator[str]:
    """Cordon the node, then evict its pods one by one; says in kubectl's words what comes of each. Pods of a
    DaemonSet and mirrors of static pods stay; what a budget protects stays until somebody asks again.

    Upstream: kubectl/pkg/drain/{drain,filters}.go, v1.34, which asks again every 5 seconds."""
    cordon(sandbox, node)
    yield f"node/{node} cordoned"
    for pod in sandbox.list(PODS.id).items:
        if pod["spec"].get("nodeName") == node and "deletionTimestamp" not in pod["metadata"]:
            yield evict(sandbox, pod)
    yield f"node/{node} drained"


def evict(sandbox: Sandbox, pod: Manifest) -> str:
    metadata = pod["metadata"]
    key = f"{metadata['namespace']}/{metadata['name']}"
    finished = (pod.get("status") or {}).get("phase") in FINISHED
    owners = metadata.get("ownerReferences") or ()
    if any(each.get("kind") == "DaemonSet" and each.get("controller") for each in owners) and not finished:
        return f"Warning: ignoring DaemonSet-managed Pods: {key}"
    if MIRROR in (metadata.get("annotations") or {}):
        return f"ignoring static pod {key}"
    try:
        write.evict(sandbox, key)
    except NotFound:
        return f"pod/{metadata['name']} evicted"  # it went meanwhile, which is what was wanted
    except TooManyRequests as error:
        return f"error when evicting pod {key}: {error.message}"
    except StatusError as error:
        return error.message
    return f"evicting pod {key}"
