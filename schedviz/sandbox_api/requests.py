"""Reads requests and builds answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import msgspec
from django.http import HttpRequest, HttpResponse

from schedviz.api import body
from schedviz.sandbox_documents import WorkloadFiles
from simulator.api import Manifest
from simulator.apiserver.manifest import ManifestError, parse_json_document, parse_manifests
from simulator.apiserver.request_errors import UnsupportedMediaType
from simulator.apiserver.status import BadRequest
from simulator.kernel.prepared_types import prepared

T = TypeVar("T")


def read_body(request: HttpRequest, kind: type[T]) -> T:
    """Return the body, which is JSON; an empty one is an object without fields. Raises BadRequest with the
    path of a wrong field, UnsupportedMediaType."""
    if not request.body:
        data: Any = {}
    elif body.content_type(request) != body.JSON:
        raise UnsupportedMediaType(f"the body must be {body.JSON}")
    else:
        data = body.parsed(parse_json_document, request)
    try:
        return msgspec.convert(data, prepared(kind))
    except msgspec.ValidationError as error:
        raise BadRequest(str(error)) from None


def read_manifests(given: list[dict[str, Any]] | str) -> list[Manifest]:
    """Read the manifests in the body of a request. Raises BadRequest."""
    if not isinstance(given, str):
        return given
    try:
        return parse_manifests(given)
    except ManifestError as error:
        raise BadRequest(f"manifests: {error}") from None


@contextmanager
def workload_files(asked: WorkloadFiles) -> Iterator[tuple[Path, Path | None]]:
    """Context manager: write the arrivals and the nodes of a request to temporary files; None = there are no
    nodes. Raises BadRequest."""
    if bool(asked.arrivals) == bool(asked.arrivals_base64):
        raise BadRequest("arrivals: give either arrivals or arrivals_base64")
    if asked.nodes and asked.nodes_base64:
        raise BadRequest("nodes: give either nodes or nodes_base64")
    with TemporaryDirectory(prefix="schedviz-play-") as folder:
        arrivals, nodes = Path(folder) / "arrivals", Path(folder) / "nodes"
        arrivals.write_bytes(asked.arrivals_base64 or asked.arrivals.encode(errors="replace"))
        nodes.write_bytes(asked.nodes_base64 or asked.nodes.encode(errors="replace"))
        yield arrivals, nodes if nodes.stat().st_size else None


def answer(value: msgspec.Struct, status: int = 200) -> HttpResponse:
    return HttpResponse(msgspec.json.encode(value), status=status, content_type=body.JSON)
