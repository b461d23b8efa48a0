"""The requests whose cost is measured, as HTTP has them: they know nothing of how the server works."""

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import yaml

from schedviz.api.accept import PROTOBUF, YAML
from simulator.api import Manifest
from simulator.apiserver.protobuf_encoding import NoDescription, encode_protobuf
from simulator.apiserver.resource import Resource
from tests.programs.costs.growing_objects import CUSTOM, Entries, Path, Place, base_of, grow, grown, value_at

JSON: Final = "application/json"
_JSON_PATCH, _MERGE_PATCH, _STRATEGIC_PATCH = (
    f"application/{name}-patch+json" for name in ("json", "merge", "strategic-merge")
)
_APPLY: Final = "application/apply-patch+yaml"
_TABLE: Final = f"{JSON};as=Table;v=v1;g=meta.k8s.io"
_MANAGER: Final = "?fieldManager=other"


class Request(NamedTuple):
    """``path``: below that of the sandbox."""

    method: str
    path: str
    body: bytes = b""
    media_type: str = JSON
    accept: str = JSON


class Growing(NamedTuple):
    """A list or a map that grows, in an object. ``second``: a further one, which grows with it."""

    place: Place
    entries: Entries
    second: Place | None = None

    def __str__(self) -> str:
        also = f" and {self.second}" if self.second else ""
        return f"{self.place}{also} ({self.entries})"

    @property
    def resource(self) -> Resource:
        return self.place.resource

    @property
    def path(self) -> Path:
        return self.place.path

    def with_entries(self, count: int, *, first: int = 0) -> Manifest:
        """Return the object with so many entries. ``first``: the number of the first."""
        found = grown(self.place, count, self.entries, first=first)
        if self.second:
            grow(found, self.second, count, self.entries, first=first)
        return found


def path_of(resource: Resource, name: str = "", subresource: str = "") -> str:
    """Return the path of an object, or of all objects of a resource."""
    steps = ["apis" if resource.group else "api", resource.api_version]
    steps += ["namespaces", "default"] if resource.namespaced else []
    steps += [resource.plural, name, subresource]
    return "/" + "/".join(filter(None, steps))


def stored_before(growing: Growing, count: int) -> list[list[Request]]:
    """Return what is sent before a request that needs a stored object: of these the first that is accepted,
    as large as the request if possible."""
    resource = growing.resource
    small = create(growing, base_of(resource))
    if _subresource(growing) == "status":
        path = path_of(resource, _name(growing))
        whole = json.dumps(growing.with_entries(count)).encode()
        return [[small, Request("PUT", f"{path}/status", whole)], [Request("GET", path)]]
    return [
        [create(growing, growing.with_entries(count))],
        [create(growing, growing.with_entries(1))],
        [small],
    ]


def create(growing: Growing, manifest: Manifest) -> Request:
    return Request("POST", path_of(growing.resource), json.dumps(manifest).encode())


def _subresource(growing: Growing) -> str:
    if growing.path[0] == "status" and growing.resource.has_status:
        return "status"
    return "ephemeralcontainers" if "ephemeralContainers" in growing.path[:2] else ""


def _own_path(growing: Growing) -> str:
    return path_of(growing.resource, _name(growing), _subresource(growing)) + _MANAGER


def _name(growing: Growing) -> str:
    return str(base_of(growing.resource)["metadata"]["name"])


def _create(growing: Growing, count: int, _: Manifest) -> Request:
    return create(growing, growing.with_entries(count))


def _create_of_yaml(growing: Growing, count: int, _: Manifest) -> Request:
    text = yaml.dump(growing.with_entries(count), Dumper=yaml.CSafeDumper)
    return Request("POST", path_of(growing.resource), text.encode(), YAML)


def _create_of_protobuf(growing: Growing, count: int, _: Manifest) -> Request | None:
    try:
        data = encode_protobuf(growing.with_entries(count))
    except (NoDescription, ValueError, KeyError, TypeError, AttributeError):
        return None
    return Request("POST", path_of(growing.resource), data, PROTOBUF)


def _update(growing: Growing, count: int, old: Manifest) -> Request:
    new = growing.with_entries(count)
    labels = {**new["metadata"].get("labels", {}), "changed": "a"}
    version = old["metadata"]["resourceVersion"]
    new["metadata"] = {**new["metadata"], "labels": labels, "resourceVersion": version}
    found = value_at(new, growing.path)
    if isinstance(found, list):
        found.reverse()
        if found and isinstance(found[0], dict):
            found[0] = {**found[0], "name": "changed"}
    return Request("PUT", _own_path(growing), json.dumps(new).encode())


def _patch(growing: Growing, media_type: str, patch: Any) -> Request:
    return Request("PATCH", _own_path(growing), json.dumps(patch).encode(), media_type)


def _merge_patch(growing: Growing, count: int, _: Manifest) -> Request:
    return _patch(growing, _MERGE_PATCH, growing.with_entries(count, first=count // 2))


def _strategic_patch(growing: Growing, count: int, _: Manifest) -> Request | None:
    if growing.resource == CUSTOM:
        return None
    return _patch(growing, _STRATEGIC_PATCH, growing.with_entries(count, first=count // 2))


def _ordered_patch(growing: Growing, count: int, _: Manifest) -> Request | None:
    """A strategic merge patch with the order of all items, as kubectl writes it."""
    patch = growing.with_entries(count, first=count // 2)
    items = value_at(patch, growing.path)
    if growing.resource == CUSTOM or not isinstance(items, list) or growing.path[-1] in ("[]", "{}"):
        return None
    keys = ("name", "key", "type", "uid", "ip", "containerPort", "port")
    _above(patch, growing.path)[f"$setElementOrder/{growing.path[-1]}"] = [
        {key: item[key] for key in keys if key in item} if isinstance(item, dict) else item for item in items
    ]
    return _patch(growing, _STRATEGIC_PATCH, patch)


def _deleting_patch(growing: Growing, count: int, _: Manifest) -> Request | None:
    """A strategic merge patch that deletes all items one by one."""
    patch = growing.with_entries(count)
    items = value_at(patch, growing.path)
    if growing.resource == CUSTOM or not isinstance(items, list) or growing.path[-1] in ("[]", "{}"):
        return None
    above = _above(patch, growing.path)
    if items and isinstance(items[0], dict):
        above[growing.path[-1]] = [{**item, "$patch": "delete"} for item in items]
    else:
        above[f"$deleteFromPrimitiveList/{growing.path[-1]}"] = above.pop(growing.path[-1])
    return _patch(growing, _STRATEGIC_PATCH, patch)


def _above(manifest: Manifest, path: Path) -> Any:
    return value_at(manifest, path[:-1]) if len(path) > 1 else manifest


def _json_patch(growing: Growing, count: int, _: Manifest) -> Request | None:
    """A JSON patch that adds the entries one by one."""
    path = growing.path
    if any(step in ("[]", "{}") for step in path[:-1]) and path[-1] in ("[]", "{}"):
        return None
    added = value_at(growing.with_entries(count, first=count), path)
    start = growing.with_entries(1)
    parts = ["0" if step == "[]" else "a" if step == "{}" else step for step in path]
    whole = "".join(f"/{part}" for part in parts)
    operations = [{"op": "replace", "path": f"/{parts[0]}", "value": start.get(parts[0])}]
    if isinstance(added, list):
        operations += [{"op": "add", "path": f"{whole}/-", "value": item} for item in added]
    else:
        operations += [
            {"op": "add", "path": f"{whole}/{name}", "value": item} for name, item in added.items()
        ]
    return _patch(growing, _JSON_PATCH, operations)


def _apply(growing: Growing, count: int, _: Manifest) -> Request:
    return _patch(growing, _APPLY, growing.with_entries(count))


def _apply_again(growing: Growing, count: int, _: Manifest) -> Request:
    request = _patch(growing, _APPLY, growing.with_entries(count, first=count // 2))
    return request._replace(path=f"{request.path}&force=true")


def _apply_conflict(growing: Growing, count: int, _: Manifest) -> Request:
    wanted = growing.with_entries(count)
    _change_scalars(value_at(wanted, growing.path))
    return _patch(growing, _APPLY, wanted)


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


def _list(accept: str) -> "Build":
    def build(growing: Growing, _: int, old: Manifest) -> Request | None:
        if value_at(old, growing.path) is None or (accept == PROTOBUF and _is_json_only(growing.resource)):
            return None
        return Request("GET", path_of(growing.resource), accept=accept)

    return build


def _is_json_only(resource: Resource) -> bool:
    return resource == CUSTOM or "schedviz" in resource.group


Build = Callable[[Growing, int, Manifest], Request | None]
"""Makes the request with so many entries from the stored object ({} = there is none). None: there is no such
request."""
CREATING: Final[dict[str, Build]] = {
    "create": _create,
    "create as YAML": _create_of_yaml,
    "create as Protocol Buffers": _create_of_protobuf,
    "apply": _apply,
}
CHANGING: Final[dict[str, Build]] = {
    "update": _update,
    "merge patch": _merge_patch,
    "strategic merge patch": _strategic_patch,
    "ordered strategic merge patch": _ordered_patch,
    "deleting strategic merge patch": _deleting_patch,
    "JSON patch": _json_patch,
    "apply again": _apply_again,
    "apply with conflicts": _apply_conflict,
    "list": _list(JSON),
    "list as YAML": _list(YAML),
    "list as Protocol Buffers": _list(PROTOBUF),
    "table": _list(_TABLE),
}
