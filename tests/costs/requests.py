"""The requests whose work is counted.

Each reads a body, admits it, and writes the answer as schedviz/api does, without a store.
"""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from schedviz.api.representation import Representation
from schedviz.api.warning_header import limited
from schedviz.api.yaml_text import yaml_of
from simulator.api import Manifest
from simulator.apiserver import admission
from simulator.apiserver.admission import Admission
from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.managed_fields.field_writes import FieldWrite, apply_manifest
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.owner_references import drop_repeated_owners
from simulator.apiserver.patches.patch_request import PATCH_TYPES, PatchBody, patched_object
from simulator.apiserver.protobuf_encoding import NoDescription, encode_protobuf
from simulator.apiserver.request_decoding.decode_request import decode_protobuf_request, decode_request
from simulator.apiserver.request_decoding.read_object import read_yaml_body
from simulator.apiserver.resource import Resource
from simulator.apiserver.response_json import response_json
from simulator.apiserver.served_versions import to_served, to_stored
from simulator.apiserver.status import StatusError
from simulator.apiserver.update import admit_update
from simulator.apiserver.warnings import warnings_of, warnings_of_update
from tests.apiserver.cluster import NOW, Cluster
from tests.costs.growing_objects import (
    CUSTOM,
    DEFINITION,
    ENTRIES,
    Entries,
    Path,
    Place,
    base_of,
    grow,
    grown,
    places,
    value_at,
)

TIME: Final = "2025-01-01T00:00:00Z"
Work = Callable[[], object]


class Case(NamedTuple):
    """A kind of request with a list or a map that grows. ``second``: a further one, which grows with it."""

    request: str
    place: Place
    entries: Entries
    second: Place | None = None

    def __str__(self) -> str:
        also = f" and {self.second}" if self.second else ""
        return f"{self.request} {self.place}{also} ({self.entries})"

    def prepare(self, count: int) -> Work | None:
        """Return the request with so many entries, to be carried out once. None: there is no such request."""
        return REQUESTS[self.request](self, count)

    def grown(self, count: int, *, first: int = 0) -> Manifest:
        found = grown(self.place, count, self.entries, first=first)
        if self.second:
            grow(found, self.second, count, self.entries, first=first)
        return found


def cases() -> Iterator[Case]:
    """Yield each request for each list and map, and pairs of them, in a lasting order."""
    draw = random.Random(28)
    found = [*places()]
    by_kind: dict[str, list[Place]] = {}
    for place in found:
        by_kind.setdefault(place.resource.id, []).append(place)
    for place in found:
        for entries in ENTRIES:
            for request in REQUESTS:
                yield Case(request, place, entries)
        others = by_kind[place.resource.id]
        yield Case(draw.choice([*REQUESTS]), place, draw.choice(ENTRIES), draw.choice(others))


def cluster() -> Cluster:
    found = Cluster()
    found.create([DEFINITION])
    return found


def _answer(resource: Resource, call: Callable[[], tuple[Manifest, list[str]]]) -> object:
    """Write the answer of a request: the object with its warnings, or the Status."""
    try:
        result, warnings = call()
    except StatusError as error:
        return response_json(error.status()), limited(error.warnings)
    except ManifestError as error:
        return str(error)
    return response_json(to_served(resource, result)), limited(warnings)


def _write(subresource: str = "", *, manager: str = "test", is_applied: bool = False) -> FieldWrite:
    return FieldWrite(manager, TIME, subresource, is_applied=is_applied)


def _admit(manifest: Manifest, into: Cluster, *, is_applied: bool = False) -> Admission:
    return admission.admit(
        [manifest], into, NOW, source="test", entry="api", write=_write(is_applied=is_applied)
    )


def _stored(case: Case, into: Cluster, count: int) -> Manifest:
    """Return the stored object that a request changes: as large as the request, if it may be created; else a
    small one."""
    for wanted in (lambda: case.grown(count), lambda: case.grown(1), lambda: base_of(case.place.resource)):
        try:
            (stored,) = into.commit(_admit(wanted(), into).changes[:1])
        except StatusError:
            continue
        return stored
    raise AssertionError(f"the small {case.place.resource.kind} is refused")


def _subresource(resource: Resource, path: Path) -> str:
    if path[0] == "status" and resource.has_status:
        return "status"
    return "ephemeralcontainers" if "ephemeralContainers" in path[:2] else ""


def _create(case: Case, count: int) -> Work:
    resource, into, data = case.place.resource, cluster(), json.dumps(case.grown(count)).encode()

    def call() -> tuple[Manifest, list[str]]:
        manifest, warnings = decode_request(resource, data, is_yaml=False)
        warnings = warnings + drop_repeated_owners(manifest)
        created = _admit(manifest, into).objects[0].object
        assert created
        return created, [*warnings, *warnings_of(resource, created)]

    return lambda: _answer(resource, call)


def _create_of_yaml(case: Case, count: int) -> Work:
    resource, into = case.place.resource, cluster()
    data = yaml_of(case.grown(count)).encode()

    def call() -> tuple[Manifest, list[str]]:
        manifest, warnings = decode_request(resource, data, is_yaml=True)
        created = _admit(manifest, into).objects[0].object
        assert created
        return created, warnings

    return lambda: _answer(resource, call)


def _create_of_protobuf(case: Case, count: int) -> Work | None:
    resource, into = case.place.resource, cluster()
    try:
        data = encode_protobuf(case.grown(count))
    except (NoDescription, ValueError, KeyError, TypeError, AttributeError):
        return None

    def call() -> tuple[Manifest, list[str]]:
        manifest = decode_protobuf_request(resource, data)
        created = _admit(manifest, into).objects[0].object
        assert created
        return created, []

    return lambda: _answer(resource, call)


def _paste(case: Case, count: int) -> Work:
    resource, into, text = case.place.resource, cluster(), json.dumps(case.grown(count))

    def call() -> tuple[Manifest, list[str]]:
        created = into.admit(parse_manifests(text)).objects[0].object
        assert created
        return created, []

    return lambda: _answer(resource, call)


def _update(case: Case, count: int) -> Work:
    resource, into = case.place.resource, cluster()
    old = _stored(case, into, count)
    new = case.grown(count)
    new["metadata"] = {**new["metadata"], "labels": {**new["metadata"].get("labels", {}), "changed": "a"}}
    found = value_at(new, case.place.path)
    if isinstance(found, list):
        found.reverse()
        if found and isinstance(found[0], dict):
            found[0] = {**found[0], "name": "changed"}
    data, subresource = json.dumps(new).encode(), _subresource(resource, case.place.path)

    def call() -> tuple[Manifest, list[str]]:
        manifest, warnings = decode_request(resource, data, is_yaml=False)
        warnings = warnings + drop_repeated_owners(manifest)
        kind, changed = to_stored(resource, manifest)
        result, found = _updated(kind, old, changed, into, _write(subresource, manager="other"))
        return result, [*warnings, *found]

    return lambda: _answer(resource, call)


def _updated(
    kind: Resource, old: Manifest, new: Manifest, into: Cluster, write: FieldWrite
) -> tuple[Manifest, list[str]]:
    admitted = admit_update(kind, old, new, into, subresource=write.subresource, write=write)
    result = (admitted.changes and admitted.changes[0].object) or old
    return result, warnings_of_update(kind, result, old, write.subresource)


def _patch(case: Case, count: int, media_type: str, patch: Any) -> Work:
    resource, into = case.place.resource, cluster()
    old = _stored(case, into, count)
    data, subresource = json.dumps(patch).encode(), _subresource(resource, case.place.path)

    def call() -> tuple[Manifest, list[str]]:
        body = PatchBody(media_type, data, "")
        manifest, warnings = patched_object(resource, body, to_served(resource, old))
        warnings = warnings + drop_repeated_owners(manifest, is_patched=True)
        kind, changed = to_stored(resource, manifest)
        result, found = _updated(kind, old, changed, into, _write(subresource, manager="other"))
        return result, [*warnings, *found]

    return lambda: _answer(resource, call)


def _merge_patch(case: Case, count: int) -> Work:
    return _patch(case, count, PATCH_TYPES[1], case.grown(count, first=count // 2))


def _strategic_patch(case: Case, count: int) -> Work | None:
    if case.place.resource == CUSTOM:
        return None
    return _patch(case, count, PATCH_TYPES[2], case.grown(count, first=count // 2))


def _ordered_patch(case: Case, count: int) -> Work | None:
    """A strategic merge patch with the order of all items, as kubectl writes it."""
    place = case.place
    patch = case.grown(count, first=count // 2)
    items = value_at(patch, place.path)
    if place.resource == CUSTOM or not isinstance(items, list) or place.path[-1] in ("[]", "{}"):
        return None
    above = value_at(patch, place.path[:-1]) if len(place.path) > 1 else patch
    above[f"$setElementOrder/{place.path[-1]}"] = [
        {
            key: item[key]
            for key in ("name", "key", "type", "uid", "ip", "containerPort", "port")
            if key in item
        }
        if isinstance(item, dict)
        else item
        for item in items
    ]
    return _patch(case, count, PATCH_TYPES[2], patch)


def _deleting_patch(case: Case, count: int) -> Work | None:
    """A strategic merge patch that deletes all items one by one."""
    place, patch = case.place, case.grown(count)
    items = value_at(patch, place.path)
    if place.resource == CUSTOM or not isinstance(items, list) or place.path[-1] in ("[]", "{}"):
        return None
    above = value_at(patch, place.path[:-1]) if len(place.path) > 1 else patch
    if items and isinstance(items[0], dict):
        above[place.path[-1]] = [{**item, "$patch": "delete"} for item in items]
    else:
        above[f"$deleteFromPrimitiveList/{place.path[-1]}"] = above.pop(place.path[-1])
    return _patch(case, count, PATCH_TYPES[2], patch)


def _json_patch(case: Case, count: int) -> Work | None:
    """A JSON patch that adds the entries one by one."""
    place = case.place
    if any(step in ("[]", "{}") for step in place.path[:-1]) and place.path[-1] in ("[]", "{}"):
        return None
    added = value_at(case.grown(count, first=count), place.path)
    start = case.grown(1)
    parts = ["0" if step == "[]" else "a" if step == "{}" else step for step in place.path]
    whole = "".join(f"/{part}" for part in parts)
    operations = [{"op": "replace", "path": f"/{parts[0]}", "value": start.get(parts[0])}]
    if isinstance(added, list):
        operations += [{"op": "add", "path": f"{whole}/-", "value": item} for item in added]
    else:
        operations += [
            {"op": "add", "path": f"{whole}/{name}", "value": item} for name, item in added.items()
        ]
    return _patch(case, count, PATCH_TYPES[0], operations)


def _apply(case: Case, count: int) -> Work:
    resource, into, data = case.place.resource, cluster(), json.dumps(case.grown(count))

    def call() -> tuple[Manifest, list[str]]:
        applied = read_yaml_body(data)
        new = apply_manifest(resource, None, applied, _write(is_applied=True), force=False)
        created = _admit(new, into, is_applied=True).objects[0].object
        assert created
        return created, warnings_of(resource, created)

    return lambda: _answer(resource, call)


def _apply_again(case: Case, count: int) -> Work:
    return _applied_to(case, count, force=True, first=count // 2)


def _apply_conflict(case: Case, count: int) -> Work:
    return _applied_to(case, count, force=False, first=0)


def _applied_to(case: Case, count: int, *, force: bool, first: int) -> Work:
    resource, into = case.place.resource, cluster()
    old = _stored(case, into, count)
    wanted = case.grown(count, first=first)
    if not force:
        _change_scalars(value_at(wanted, case.place.path))
    data, subresource = json.dumps(wanted), _subresource(resource, case.place.path)

    def call() -> tuple[Manifest, list[str]]:
        applied = read_yaml_body(data)
        write = _write(subresource, manager="applier", is_applied=True)
        new = apply_manifest(resource, to_served(resource, old), applied, write, force=force)
        kind, changed = to_stored(resource, new)
        return _updated(kind, old, changed, into, write)

    return lambda: _answer(resource, call)


def _change_scalars(entries: Any) -> None:
    """Change what identifies no entry, so that another manager's fields change."""
    if isinstance(entries, dict):
        entries.update({name: "changed" for name, value in entries.items() if isinstance(value, str)})
        return
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            names = [
                name
                for name, value in entry.items()
                if isinstance(value, str) and name in ("image", "value", "status")
            ]
            entry.update(dict.fromkeys(names, "changed"))


def _as_stored(case: Case, count: int) -> Manifest | None:
    into = cluster()
    stored = _stored(case, into, count)
    return None if value_at(stored, case.place.path) is None else stored


def _list(case: Case, count: int) -> Work | None:
    stored = _as_stored(case, count)
    if stored is None:
        return None
    resource = case.place.resource

    def write() -> object:
        shown = Representation().list(resource, [stored], {"resourceVersion": "1"}, lambda: NOW)
        return response_json(shown), yaml_of(shown)

    return write


def _list_of_protobuf(case: Case, count: int) -> Work | None:
    stored = _as_stored(case, count)
    if stored is None or case.place.resource == CUSTOM or "schedviz" in case.place.resource.group:
        return None
    shown = Representation().list(case.place.resource, [stored], {"resourceVersion": "1"}, lambda: NOW)
    return lambda: encode_protobuf(shown)


def _table(case: Case, count: int) -> Work | None:
    stored = _as_stored(case, count)
    if stored is None:
        return None
    form = Representation("Table")
    return lambda: response_json(
        form.list(case.place.resource, [stored], {"resourceVersion": "1"}, lambda: NOW)
    )


REQUESTS: Final[dict[str, Callable[[Case, int], Work | None]]] = {
    "create": _create,
    "create as YAML": _create_of_yaml,
    "create as Protocol Buffers": _create_of_protobuf,
    "paste": _paste,
    "update": _update,
    "merge patch": _merge_patch,
    "strategic merge patch": _strategic_patch,
    "ordered strategic merge patch": _ordered_patch,
    "deleting strategic merge patch": _deleting_patch,
    "JSON patch": _json_patch,
    "apply": _apply,
    "apply again": _apply_again,
    "apply with conflicts": _apply_conflict,
    "list": _list,
    "list as Protocol Buffers": _list_of_protobuf,
    "table": _table,
}
