"""Edits: single writes to the cluster as data that a page can show and apply."""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from simulator.api import Change, Manifest
from simulator.apiserver.admission import DELETION_FIELDS, SERVER_FIELDS
from simulator.apiserver.patches.json_patch import apply_json_patch
from simulator.apiserver.resources import PODS
from simulator.apiserver.validation import validate_update


class Edit(msgspec.Struct, frozen=True):
    """One write of one object. ``recreate``: the API server refuses this update of an existing pod or
    resource claim, so it must be deleted and created again, or its controller's template must be changed."""

    verb: Literal["create", "update", "recreate", "delete"]
    resource: str
    """The resource in kubectl's group-resource form, as in :class:`simulator.api.Change`."""
    key: str
    manifest: Manifest | None
    """The whole new object (for ``recreate`` without fields that the API server sets); None for
    ``delete``."""
    patch: list[Manifest] = []
    """The change as a JSON patch (RFC 6902) of the existing object; empty for ``create`` and ``delete``."""

    @property
    def change(self) -> Change:
        return Change(self.resource, self.key, self.manifest, expected=0 if self.verb == "create" else None)


def create_object(resource: str, key: str, manifest: Manifest) -> Edit:
    return Edit("create", resource, key, manifest)


def delete_object(resource: str, key: str) -> Edit:
    return Edit("delete", resource, key, None)


def update_object(resource: str, key: str, old: Manifest, new: Manifest) -> Edit:
    return Edit("update", resource, key, new, [*make_json_patch(old, new)])


def update_pod(key: str, old: Manifest, new: Manifest) -> Edit:
    """Return an update of a pod, or ``recreate`` if the API server would refuse the update. A recreated pod
    has no status, and so no nomination."""
    patch = [*make_json_patch(old, new)]
    if not validate_update(PODS, new, old):
        return Edit("update", PODS.id, key, new, patch)
    return recreate_object(PODS.id, key, old, new)


def recreate_object(resource: str, key: str, old: Manifest, new: Manifest) -> Edit:
    """Return an edit that deletes an object and creates it again without its status, as its spec cannot be
    updated."""
    dropped = (*SERVER_FIELDS, *DELETION_FIELDS)
    metadata = {field: value for field, value in new["metadata"].items() if field not in dropped}
    anew = {field: value for field, value in new.items() if field != "status"}
    return Edit("recreate", resource, key, {**anew, "metadata": metadata}, [*make_json_patch(old, new)])


def combine_edits(
    first: Sequence[Edit], second: Sequence[Edit], stored: Callable[[str, str], Manifest | None]
) -> list[Edit]:
    """Return the writes of two changes, of which ``second`` was made on the result of ``first``, with one
    write for each object. ``stored`` returns an object as it is without both changes."""
    edits = {(each.resource, each.key): each for each in first}
    for each in second:
        at = (each.resource, each.key)
        edits[at] = _combine(edits[at], each, stored(*at)) if at in edits else each
    return [*edits.values()]


def _combine(first: Edit, second: Edit, stored: Manifest | None) -> Edit:
    if second.manifest is None or stored is None:
        verb = second.verb if second.manifest is None else first.verb
        return Edit(verb, first.resource, first.key, second.manifest)
    new = apply_json_patch(apply_json_patch(stored, first.patch), second.patch)
    if first.resource == PODS.id:
        return update_pod(first.key, stored, new)
    made = recreate_object if "recreate" in (first.verb, second.verb) else update_object
    return made(first.resource, first.key, stored, new)


def mutable_copy(manifest: Manifest) -> Manifest:
    """Return a deep copy that may be changed."""
    return copy.deepcopy(manifest)


def make_json_patch(old: Any, new: Any, path: str = "") -> Iterator[Manifest]:
    """Yield the operations of a JSON patch that changes ``old`` to ``new``. A list with another length is
    replaced, unless items are only appended."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            at = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            if name not in new:
                yield {"op": "remove", "path": at}
            elif name not in old:
                yield {"op": "add", "path": at, "value": new[name]}
            else:
                yield from make_json_patch(old[name], new[name], at)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from make_json_patch(before, after, f"{path}/{i}")
    elif isinstance(old, list) and isinstance(new, list) and old and new[: len(old)] == old:
        yield from ({"op": "add", "path": f"{path}/-", "value": value} for value in new[len(old) :])
    elif old != new:
        yield {"op": "replace", "path": path, "value": new}
