"""The OpenAPI document of this API, made of its URLs, operations and types."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import msgspec
from django.urls import URLPattern

from schedviz import __version__
from schedviz import sandbox_documents as documents
from schedviz.sandbox_api.operations import OPERATIONS, Operation

_PARAMETER: Final = re.compile(r"<(\w+):(\w+)>")
_PARAMETERS: Final = {
    "name": "of the sandbox",
    "namespace": "of the pod",
    "pod": "its name",
}
_REFERENCE: Final = "#/components/schemas/{name}"


@cache
def document(patterns: tuple[URLPattern, ...]) -> bytes:
    """Return the document in JSON. patterns: the URLs of this API."""
    types = [documents.Status, *_types()]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    by_type = {repr(each): schema for each, schema in zip(types, schemas, strict=True)}
    paths = {
        "/" + _PARAMETER.sub(r"{\2}", route): _path(str(pattern.name), route, by_type)
        for pattern in patterns
        for route in [str(pattern.pattern)]
    }
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "schedviz: sandboxes",
                "version": __version__,
                "description": "Create sandboxes, move their time, and read what their scheduler did. The "
                "objects of a sandbox are served by Kubernetes' API under its kubernetes_api.",
            },
            "paths": paths,
            "components": {
                "schemas": components,
                "securitySchemes": {
                    "token": {"type": "http", "scheme": "bearer", "description": "that of a link"},
                    "owner": {"type": "apiKey", "in": "cookie", "name": "owner"},
                },
            },
            # One of them, or nothing where the server lets everybody do everything.
            "security": [{}, {"token": []}, {"owner": []}],
        }
    )


def _types() -> Iterator[Any]:
    for methods in OPERATIONS.values():
        for operation in methods.values():
            yield from (each for each in (operation.body, operation.answer) if each is not None)


def _path(name: str, route: str, by_type: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        method: _operation(operation, by_type) for method, operation in OPERATIONS[name].items()
    }
    parameters = [
        {
            "name": each,
            "in": "path",
            "required": True,
            "description": _PARAMETERS[each],
            "schema": {"type": "string"},
        }
        for _, each in _PARAMETER.findall(route)
    ]
    return {**({"parameters": parameters} if parameters else {}), **found}


def _operation(operation: Operation, by_type: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": operation.summary}
    if operation.answer is not None:
        answer["content"] = _content(by_type[repr(operation.answer)])
    responses = {str(operation.status): answer}
    if operation.can_fail:
        error = _content(by_type[repr(documents.Status)])
        responses["default"] = {"description": "It is refused, or fails", "content": error}
    found: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "responses": responses,
    }
    if operation.body is not None:
        found["requestBody"] = {"required": True, "content": _content(by_type[repr(operation.body)])}
    if operation.query:
        found["parameters"] = [
            {"name": each.name, "in": "query", "description": each.description, "schema": each.schema}
            for each in operation.query
        ]
    return found


def _content(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
