"""One write to the cluster, as data that a page can show and apply."""

import copy
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from simulator.api import Change, Manifest
from simulator.apiserver.admission import DELETION_FIELDS, SERVER_FIELDS
from simulator.apiserver.resources import PODS
from simulator.apiserver.update_validation import validate_update


class Edit(msgspec.Struct, frozen=True):
    """``recreate``: the API server takes no such update of a pod that exists; it must be deleted and made
    anew, or the template changed that it was made from."""

    verb: Literal["create", "update", "recreate", "delete"]
    resource: str
    """kubectl's group-resource form, as in :class:`simulator.api.Change`."""
    key: str
    manifest: Manifest | None
    """The whole new object (without what the server fills in, where it is made anew); None = it goes."""
    patch: list[Manifest] = []
    """The same as a JSON patch (RFC 6902) of the object as it is; empty where one is created or deleted."""

    @property
    def change(self) -> Change:
        return Change(self.resource, self.key, self.manifest, expected=0 if self.verb == "create" else None)


def create(resource: str, key: str, manifest: Manifest) -> Edit:
    return Edit("create", resource, key, manifest)


def delete(resource: str, key: str) -> Edit:
    return Edit("delete", resource, key, None)


def update(resource: str, key: str, old: Manifest, new: Manifest) -> Edit:
    return Edit("update", resource, key, new, [*difference(old, new)])


def update_pod(key: str, old: Manifest, new: Manifest) -> Edit:
    """An update where the API server takes it, else the pod anew: without status, hence not nominated."""
    patch = [*difference(old, new)]
    if not validate_update(PODS, new, old):
        return Edit("update", PODS.id, key, new, patch)
    dropped = (*SERVER_FIELDS, *DELETION_FIELDS)
    metadata = {field: value for field, value in new["metadata"].items() if field not in dropped}
    anew = {field: value for field, value in new.items() if field != "status"}
    return Edit("recreate", PODS.id, key, {**anew, "metadata": metadata}, patch)


def changed(manifest: Manifest) -> Manifest:
    """A copy to be changed."""
    return copy.deepcopy(manifest)


def difference(old: Any, new: Any, path: str = "") -> Iterator[Manifest]:
    """The operations of a JSON patch that make ``new`` of ``old``. A list of other length is replaced, but
    for what is added at its end."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            at = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            if name not in new:
                yield {"op": "remove", "path": at}
            elif name not in old:
                yield {"op": "add", "path": at, "value": new[name]}
            else:
                yield from difference(old[name], new[name], at)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from difference(before, after, f"{path}/{i}")
    elif isinstance(old, list) and isinstance(new, list) and old and new[: len(old)] == old:
        yield from ({"op": "add", "path": f"{path}/-", "value": value} for value in new[len(old) :])
    elif old != new:
        yield {"op": "replace", "path": path, "value": new}
