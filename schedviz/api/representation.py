"""The representation of a response: whole objects, their metadata only, or the table that ``kubectl get``
prints.

Upstream: apiserver/pkg/endpoints/handlers/negotiation and response.go, v1.34.
"""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import msgspec
from django.http import HttpRequest

from simulator.api import Manifest, Micros
from simulator.apiserver import protobuf
from simulator.apiserver.event_versions import to_served
from simulator.apiserver.printers.table import build_table
from simulator.apiserver.protobuf_encoding import has_protobuf
from simulator.apiserver.resources import BUILT_IN_GROUPS, Resource, find_built_in
from simulator.apiserver.schema import is_known_kind
from simulator.apiserver.status import BadRequest, NotAcceptable
from simulator.apiserver.workload_defaults import TEMPLATE_GENERATION

Form = Literal["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]
FORMS: tuple[Form, ...] = get_args(Form)

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = protobuf.MEDIA_TYPE
OFFERED = (JSON, YAML, PROTOBUF)
"""What an API server can answer with."""
MEDIA_TYPES = ", ".join(OFFERED)
STREAMED = ", ".join(f"{media_type};stream=watch" for media_type in (JSON, PROTOBUF))
"""What it can answer a watch with."""
META = "meta.k8s.io"


class _NoSuchMediaType(NotAcceptable):
    has_details = True


class Clause(msgspec.Struct, frozen=True):
    """One of the media types of an Accept header."""

    media_type: str
    parameters: dict[str, str]

    @property
    def quality(self) -> float:
        try:
            return float(self.parameters.get("q", "1"))
        except ValueError:
            return 1.0


class Representation(msgspec.Struct, frozen=True):
    """The representation that a request's Accept header asks for."""

    form: Form | None = None
    """None: the whole object."""
    version: str = "v1"
    """The version of meta.k8s.io of a Table or PartialObjectMetadata."""
    include_object: str = ""
    """The query parameter ``includeObject``: which part of the object each row of a Table contains."""
    media_type: str = JSON
    """One of OFFERED."""

    @classmethod
    def of(cls, request: HttpRequest) -> "Representation":
        """Raises NotAcceptable if the server supports no media type of the Accept header."""
        clauses = clauses_of(request.headers.get("Accept", ""))
        if not clauses:
            return cls()
        if not any(clause.media_type in (*OFFERED, "*/*") for clause in clauses):
            raise _NoSuchMediaType(f"406: Not Acceptable\n\nAvailable representations: {MEDIA_TYPES}")
        for clause in clauses:
            if clause.media_type in (*OFFERED, "application/*", "*/*"):
                media_type = clause.media_type if clause.media_type in OFFERED else JSON
                asked = clause.parameters.get("as", "")
                if not asked:
                    return cls(media_type=media_type)
                version = clause.parameters.get("v", "")
                form = next((form for form in FORMS if form == asked), None)
                if form and clause.parameters.get("g") == META and version in ("v1", "v1beta1"):
                    return cls(form, version, _include_object(request), media_type)
        raise NotAcceptable(f"only the following media types are accepted: {MEDIA_TYPES}")

    @property
    def api_version(self) -> str:
        return f"{META}/{self.version}"

    def of_stream(self, resource: Resource) -> "Representation":
        """The representation of the events of a watch of this resource: JSON where this program does not know
        the numbers of its fields. Raises NotAcceptable if they cannot be encoded as the request asks."""
        if self.media_type == YAML:
            raise NotAcceptable(f"only the following media types are accepted: {STREAMED}")
        if self.media_type == PROTOBUF and self.form != "PartialObjectMetadata":
            kind = ("Table", self.api_version) if self.form else (resource.kind, resource.api_version)
            check_protobuf({"kind": kind[0], "apiVersion": kind[1]})
            if not has_protobuf(resource.api_version, resource.kind):
                return msgspec.structs.replace(self, media_type=JSON)
        return self

    def one(self, resource: Resource, manifest: Manifest, now: Callable[[], Micros]) -> Manifest:
        """Represent one object. ``now``: returns the simulated time, for the ages in a Table."""
        match self.form:
            case "Table":
                version = {"resourceVersion": manifest["metadata"].get("resourceVersion", "")}
                return self._table(resource, [manifest], version, now())
            case "PartialObjectMetadata":
                return self._partial(manifest)
            case "PartialObjectMetadataList":
                raise NotAcceptable(
                    f"you requested {self.form}, but the requested object is not a list "
                    f"({_go_type(resource)})"
                )
        return to_served(resource, manifest)

    def list(
        self, resource: Resource, items: Sequence[Manifest], metadata: Manifest, now: Callable[[], Micros]
    ) -> Manifest:
        """Represent a list of objects. ``metadata``: of the list."""
        match self.form:
            case "Table":
                return self._table(resource, items, metadata, now())
            case "PartialObjectMetadata":
                raise NotAcceptable(
                    f"you requested {self.form}, but the requested object is a list "
                    f"({_go_type(resource)}List)"
                )
            case "PartialObjectMetadataList":
                kind, api_version = "PartialObjectMetadataList", self.api_version
                shown = [self._partial(item) for item in items]
            case _:
                kind, api_version = f"{resource.kind}List", resource.api_version
                shown = [_item(resource, item) for item in items]
                if resource.group not in BUILT_IN_GROUPS:
                    metadata = {"continue": "", **metadata}  # as unstructured lists are written
        return {"kind": kind, "apiVersion": api_version, "metadata": metadata, "items": shown}

    def _partial(self, manifest: Manifest) -> Manifest:
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": self.api_version,
            "metadata": manifest["metadata"],
        }

    def _table(
        self, resource: Resource, items: Sequence[Manifest], metadata: Manifest, now: Micros
    ) -> Manifest:
        shown = build_table(resource, items, metadata, now)
        for row, item in zip(shown["rows"], items, strict=True):
            row["object"] = self._row_object(resource, item)
        return {**shown, "apiVersion": self.api_version}

    def _row_object(self, resource: Resource, item: Manifest) -> Manifest | None:
        match self.include_object:
            case "" | "Metadata":
                return self._partial(_without_generation_note(item))
            case "Object":
                return to_served(resource, item)
        return None


def check_protobuf(value: Manifest) -> None:
    """Raises NotAcceptable for an object that has no Protocol Buffers upstream either: a table, and a custom
    resource (errNotMarshalable of apimachinery/pkg/runtime/serializer/protobuf/protobuf.go)."""
    api_version, kind = value["apiVersion"], value["kind"]
    if api_version.partition("/")[0] == META and kind != "Table":
        return
    if is_known_kind(api_version, kind):
        return
    go_type = "v1.Table" if kind == "Table" else f"unstructured.Unstructured{'List' * ('items' in value)}"
    raise NotAcceptable(
        f"object *{go_type} does not implement the protobuf marshalling interface and cannot be encoded to a "
        "protobuf message"
    )


def _without_generation_note(manifest: Manifest) -> Manifest:
    """The object without the annotation that the conversion of a DaemonSet to its version adds: the rows of a
    table are made before it."""
    metadata = manifest["metadata"]
    notes = metadata.get("annotations", {})
    if TEMPLATE_GENERATION not in notes:
        return manifest
    kept = {name: text for name, text in notes.items() if name != TEMPLATE_GENERATION}
    shown = {**metadata, "annotations": kept} if kept else {**metadata}
    if not kept:
        del shown["annotations"]
    return {**manifest, "metadata": shown}


def _include_object(request: HttpRequest) -> str:
    asked = request.GET.get("includeObject", "")
    if asked not in ("", "Metadata", "Object", "None"):
        raise BadRequest(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{asked[:100]}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    return asked


def clauses_of(accept: str) -> list[Clause]:
    """The media types of an Accept header, sorted by descending quality."""
    found = []
    for text in accept.split(","):
        media_type, *parameters = (part.strip() for part in text.split(";"))
        pairs = (parameter.partition("=") for parameter in parameters)
        if media_type:
            found.append(Clause(media_type, {name: value for name, _, value in pairs}))
    return sorted(found, key=lambda clause: -clause.quality)


def _item(resource: Resource, stored: Manifest) -> Manifest:
    """An object as an item of a list: only custom resources have ``apiVersion`` and ``kind`` there."""
    shown = to_served(resource, stored)
    if find_built_in(resource.group, resource.plural) is None:
        return shown
    return {field: value for field, value in shown.items() if field not in ("apiVersion", "kind")}


def _go_type(resource: Resource) -> str:
    """The name of the API server's internal Go type, which upstream's message contains."""
    return f"*{resource.group.partition('.')[0] or 'core'}.{resource.kind}"
