"""The OpenAPI document of this API, made of its URLs, operations and types."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import msgspec

from schedviz import __version__
from schedviz import sandbox_documents as documents
from schedviz.routes import ApiRoute
from schedviz.sandbox_api.operations import ByMethod, Operation

_PARAMETER: Final = re.compile(r"<(\w+):(\w+)>")
_PARAMETERS: Final = {
    "name": "of the sandbox",
    "namespace": "of the pod",
    "pod": "its name",
    "number": "the id of the question, or of the workload that is played",
}
_REFERENCE: Final = "#/components/schemas/{name}"


@cache
def document(routes: tuple[ApiRoute, ...]) -> bytes:
    """Return the document in JSON. routes: those of this API."""
    methods = {route.path: route.view.operations for route in routes if isinstance(route.view, ByMethod)}
    types = [documents.Status, *_types(methods)]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    by_type = {repr(each): schema for each, schema in zip(types, schemas, strict=True)}
    paths = {
        "/" + _PARAMETER.sub(r"{\2}", path): _path(path, operations, by_type)
        for path, operations in methods.items()
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


def _types(methods: Mapping[str, Mapping[str, Operation]]) -> Iterator[Any]:
    for operations in methods.values():
        for operation in operations.values():
            yield from (each for each in (operation.body, operation.answer) if each is not None)


def _path(path: str, operations: Mapping[str, Operation], by_type: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {method: _operation(each, by_type) for method, each in operations.items()}
    parameters = [
        {
            "name": each,
            "in": "path",
            "required": True,
            "description": _PARAMETERS[each],
            "schema": {"type": "string"},
        }
        for _, each in _PARAMETER.findall(path)
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
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": responses,
    }
    if operation.body not in (None, documents.Request):
        found["requestBody"] = {"required": True, "content": _content(by_type[repr(operation.body)])}
    if operation.query:
        found["parameters"] = [
            {"name": each.name, "in": "query", "description": each.description, "schema": each.schema}
            for each in operation.query
        ]
    return found


def _content(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
