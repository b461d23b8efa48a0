"""Answers reviews (``kubectl auth can-i``, ``kubectl auth whoami``). They are not stored."""

from collections.abc import Sequence
from typing import Final

from django.http import HttpRequest, HttpResponse

from schedviz.access.asker import Asker
from schedviz.api import body
from schedviz.api.review_kinds import KINDS, Review
from schedviz.store.default import default_store
from simulator.api import Manifest
from simulator.apiserver.decoding import decode_body
from simulator.apiserver.request_errors import MethodNotAllowed, NoSuchPath

VERSION: Final = "v1"


def respond(
    request: HttpRequest, sandbox: str, group: str, path: Sequence[str], asker: Asker
) -> HttpResponse:
    """Return the response of a review. path: the part of the path after the version. Raises StatusError."""
    match path:
        case [plural]:
            namespace = ""
        case ["namespaces", namespace, plural]:
            pass
        case _:
            raise NoSuchPath()
    found = KINDS.get(plural)
    if found is None or found.group != group or bool(namespace) > found.namespaced:
        raise NoSuchPath()
    if request.method != "POST" or (found.namespaced and not namespace):
        raise MethodNotAllowed()
    type_name = f"io.k8s.api.{group.partition('.')[0]}.v1.{found.kind}"
    given = decode_body(type_name, body.manifest_of(request, (f"{group}/{VERSION}", found.kind)))
    if found.namespaced:
        given = {**given, "metadata": {"namespace": namespace} | (given.get("metadata") or {})}
    question = Review(given, asker, default_store(), sandbox, namespace)
    status = found.answer(question)
    review: Manifest = {
        "kind": found.kind,
        "apiVersion": f"{group}/{VERSION}",
        "metadata": given.get("metadata") or {},
    }
    if found.kind != "SelfSubjectReview":
        review["spec"] = question.spec
    return body.answer({**review, "status": status}, 201)


def resource_list(group: str) -> Manifest:
    """Return the document of ``/apis/<group>/v1``, which clients discover."""
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group}/{VERSION}",
        "resources": [
            {
                "name": plural,
                "singularName": found.kind.lower(),
                "namespaced": found.namespaced,
                "kind": found.kind,
                "verbs": ["create"],
            }
            for plural, found in KINDS.items()
            if found.group == group
        ],
    }
