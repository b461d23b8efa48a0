"""Requests with many objects, and requests in a sandbox that has many."""

import copy
import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import urlencode

from schedviz.api.accept import PROTOBUF, YAML
from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN
from tests.programs.costs.growing_objects import DEFINITION, base_of
from tests.programs.costs.requests import JSON, Request, path_of

PASTE: Final = "/new/yaml/"
_FORM: Final = "application/x-www-form-urlencoded"
_AGGREGATED: Final = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_TABLE: Final = f"{JSON};as=Table;v=v1;g=meta.k8s.io"
_DOCUMENTS: Final = 500
"""Half the documents that one request may have."""
_AT_ONCE: Final = 200
"""Objects that are created before in one request."""
_STORED: Final = ("Pod", "Node", "Deployment", "ConfigMap", "Event", "ResourceClaim", "PersistentVolumeClaim")
"""The kinds of which many are listed."""
_BESIDE: Final = (
    *("LimitRange", "Namespace", "PriorityClass", "ResourceQuota", "Service"),
    "PodDisruptionBudget",
)
"""The kinds that the admission of a pod reads, or that select pods."""


Objects = Callable[[int], list[Manifest]]


class Crowd(NamedTuple):
    """``request``: the one that is measured. ``objects``: what is created before."""

    name: str
    request: Callable[[int], Request]
    objects: Objects = lambda _: []
    half: int = _DOCUMENTS

    def before(self, count: int) -> list[Request]:
        found = self.objects(count)
        parts = [found[start : start + _AT_ONCE] for start in range(0, len(found), _AT_ONCE)]
        return [paste(map(json.dumps, part)) for part in parts]


def paste(documents: Iterable[str]) -> Request:
    body = urlencode({"yaml": "\n---\n".join(documents), "do": "anyway"}).encode()
    return Request("POST", PASTE, body, _FORM)


def _resource(kind: str) -> Resource:
    return next(each for each in BUILT_IN if each.kind == kind and not each.group.startswith("events"))


def objects_of(kind: str, count: int) -> list[Manifest]:
    found = []
    for number in range(count):
        made = base_of(_resource(kind))
        made["metadata"] = {**made["metadata"], "name": f"a{number}", "labels": {"a": f"a{number % 2}"}}
        found.append(made)
    return found


def _definition(number: int, group: str) -> Manifest:
    found = copy.deepcopy(DEFINITION)
    plural = f"widgets{number}"
    found["metadata"]["name"] = f"{plural}.{group}"
    found["spec"] |= {"group": group, "names": {"plural": plural, "kind": f"Widget{number}"}}
    return found


def _definitions(count: int) -> list[Manifest]:
    return [_definition(number, "example.com") for number in range(count)]


def _groups(count: int) -> list[Manifest]:
    return [_definition(number, f"a{number}.example.com") for number in range(count)]


def _versions(count: int) -> list[Manifest]:
    found = _definition(0, "example.com")
    (version,) = found["spec"]["versions"]
    found["spec"]["versions"] = [
        {**version, "name": f"v{number}", "storage": number == 1} for number in range(1, count + 1)
    ]
    return [found]


def _get(path: str, accept: str = JSON) -> Callable[[int], Request]:
    return lambda _: Request("GET", path, accept=accept)


def _with_definitions() -> Iterable[Crowd]:
    asked = {
        "groups": _get("/apis"),
        "all resources": _get("/apis", _AGGREGATED),
        "resources of a group": _get("/apis/example.com/v1"),
        "OpenAPI v2": _get("/openapi/v2"),
        "documents of OpenAPI v3": _get("/openapi/v3"),
        "OpenAPI v3 of a group": _get("/openapi/v3/apis/example.com/v1"),
        "create a further definition": lambda _: _post(_definition(5_000, "example.com")),
        "create a pod": _create_pod,
        "list definitions": _get(path_of(_resource("CustomResourceDefinition"))),
    }
    many = {"definitions": _definitions, "groups": _groups, "versions": _versions}
    for crowd, objects in many.items():
        for name, request in asked.items():
            yield Crowd(f"{name} with {crowd}", request, objects, 100)


def _post(manifest: Manifest) -> Request:
    return Request("POST", path_of(_resource(manifest["kind"])), json.dumps(manifest).encode())


def _with_documents() -> Iterable[Crowd]:
    for kind in _STORED:
        yield Crowd(f"paste of {kind}", partial(_paste_of, partial(objects_of, kind)))
    yield Crowd("paste of wrong objects", partial(_paste_of, _wrong))
    yield Crowd("paste of definitions", partial(_paste_of, _definitions), half=100)
    yield Crowd("paste of a List", lambda count: paste([_list_of(objects_of("ConfigMap", count))]))
    yield Crowd("paste of questionable amounts", lambda count: _without_consent(_questionable(count)))


def _paste_of(objects: Objects, count: int) -> Request:
    return paste(map(json.dumps, objects(count)))


def _list_of(objects: list[Manifest]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def _wrong(count: int) -> list[Manifest]:
    return [{**each, "wrong": 1} for each in objects_of("ConfigMap", count)]


def _questionable(count: int) -> list[Manifest]:
    """Return pods whose amounts of memory are most likely not meant: 64m are 0.064 bytes."""
    found = objects_of("Pod", count)
    for each in found:
        each["spec"] = {
            "containers": [{"name": "a", "image": "a", "resources": {"requests": {"memory": "64m"}}}]
        }
    return found


def _without_consent(objects: list[Manifest]) -> Request:
    text = "\n---\n".join(map(json.dumps, objects))
    return Request("POST", PASTE, urlencode({"yaml": text}).encode(), _FORM)


def _with_stored() -> Iterable[Crowd]:
    forms = {"list": JSON, "list as YAML": YAML, "list as Protocol Buffers": PROTOBUF, "table": _TABLE}
    for kind in _STORED:
        path = path_of(_resource(kind))
        for name, accept in forms.items():
            yield Crowd(f"{name} of {kind}", _get(path, accept), partial(objects_of, kind))
    path, pods = path_of(_resource("Pod")), partial(objects_of, "Pod")
    yield Crowd("list of pods with a label", _get(f"{path}?labelSelector=a%3Da0"), pods)
    yield Crowd("list of pods with a field", _get(f"{path}?fieldSelector=spec.nodeName%3Da"), pods)
    yield Crowd("deletion of all pods", lambda _: Request("DELETE", path), pods)
    for kind in _BESIDE:
        yield Crowd(f"create a pod with {kind}", _create_pod, partial(objects_of, kind))


def _create_pod(_: int) -> Request:
    return _post(base_of(_resource("Pod")))


CROWDS: Final = (*_with_definitions(), *_with_documents(), *_with_stored())
