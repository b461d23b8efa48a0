"""The representation of a response: whole objects, their metadata only, or the table that ``kubectl get``
prints.

Upstream: apiserver/pkg/endpoints/handlers/negotiation and response.go.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, get_args

import msgspec
from django.http import HttpRequest

from schedviz.api.accept import (
    JSON,
    MEDIA_TYPES,
    NOT_ACCEPTED,
    OFFERED,
    PROTOBUF,
    STREAMED,
    YAML,
    Conversion,
    negotiate,
)
from simulator.api import Manifest, Micros
from simulator.apiserver.protobuf_encoding import has_protobuf
from simulator.apiserver.request_errors import NotAcceptable
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN_GROUPS, find_built_in
from simulator.apiserver.served_versions import to_served
from simulator.apiserver.status import BadRequest
from simulator.apiserver.table import build_table, table_rows
from simulator.objects.metadata import TEMPLATE_GENERATION

Form = Literal["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]
FORMS: tuple[Form, ...] = get_args(Form)

META = "meta.k8s.io"


class _NoSuchMediaType(NotAcceptable):
    has_details = True


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
    def of(cls, request: HttpRequest, *, custom: bool = False) -> "Representation":
        """Return the representation for a request. ``custom``: the request is about a custom resource. Raises
        NotAcceptable if the server has nothing that the Accept header accepts."""
        accept = request.headers.get("Accept", "")
        if accept and not custom:
            check_route(accept)
        accepted = negotiate(accept, _of_custom_resource if custom else _of_resource)
        if accepted is None:
            raise NotAcceptable(NOT_ACCEPTED)
        if accepted.conversion is None:
            return cls(media_type=accepted.media_type)
        _, version, kind = accepted.conversion
        form = next(form for form in FORMS if form == kind)
        return cls(form, version, _include_object(request), accepted.media_type)

    @property
    def api_version(self) -> str:
        return f"{META}/{self.version}"

    def of_stream(self, resource: Resource) -> "Representation":
        """Return the representation of the events of a watch of this resource: JSON where this program has no
        numbers for its fields. Raises NotAcceptable if they cannot be encoded as the request asks."""
        if self.media_type == YAML:
            offered = ", ".join(f"{media_type};stream=watch" for media_type in STREAMED)
            raise NotAcceptable(f"only the following media types are accepted: {offered}")
        has_numbers = bool(self.form) or has_protobuf(resource.api_version, resource.kind)
        if self.media_type == PROTOBUF and not has_numbers:
            return msgspec.structs.replace(self, media_type=JSON)
        return self

    def one(self, resource: Resource, manifest: Manifest, now: Callable[[], Micros]) -> Manifest:
        """Represent one object. ``now``: returns the simulated time, for the ages in a Table."""
        match self.form:
            case "Table":
                version = {"resourceVersion": manifest["metadata"].get("resourceVersion", "")}
                table = self._table(resource, [manifest], version, now)
                return {**table, "rows": [*table["rows"]]}
            case "PartialObjectMetadata":
                return self._partial(manifest)
            case "PartialObjectMetadataList":
                raise NotAcceptable(
                    f"you requested {self.form}, but the requested object is not a list "
                    f"({_go_type(resource, is_list=False)})"
                )
        return to_served(resource, manifest)

    def list(
        self, resource: Resource, items: Iterable[Manifest], metadata: Manifest, now: Callable[[], Micros]
    ) -> Manifest:
        """Represent a list of objects, each of which is read when its own representation is. ``metadata``: of
        the list."""
        shown: Iterator[Manifest]
        match self.form:
            case "Table":
                return self._table(resource, items, metadata, now)
            case "PartialObjectMetadata":
                raise NotAcceptable(
                    f"you requested {self.form}, but the requested object is a list "
                    f"({_go_type(resource, is_list=True)})"
                )
            case "PartialObjectMetadataList":
                kind, api_version = "PartialObjectMetadataList", self.api_version
                shown = map(self._partial, items)
            case _:
                kind, api_version = f"{resource.kind}List", resource.api_version
                shown = (_item(resource, item) for item in items)
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
        self, resource: Resource, items: Iterable[Manifest], metadata: Manifest, now: Callable[[], Micros]
    ) -> Manifest:
        at = now()
        rows = (
            {**row, "object": self._row_object(resource, item)}
            for item in items
            for row in table_rows(resource, [item], at)
        )
        return {**build_table(resource, [], metadata, at), "apiVersion": self.api_version, "rows": rows}

    def _row_object(self, resource: Resource, item: Manifest) -> Manifest | None:
        match self.include_object:
            case "" | "Metadata":
                return self._partial(_without_generation_note(item))
            case "Object":
                return to_served(resource, item)
        return None


def _without_generation_note(manifest: Manifest) -> Manifest:
    """Return the object without the annotation that the conversion of a DaemonSet to its version adds: the
    rows of a table are made before it."""
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


def is_custom(resource: Resource) -> bool:
    """Whether it is no resource of Kubernetes or schedviz."""
    return find_built_in(resource.group, resource.plural) is None


def check_route(accept: str) -> None:
    """Check the media type by the router of kube-apiserver, which takes only those that are written as a
    route has them."""
    given = [text.partition(";")[0].strip() for text in accept.split(",")]
    if not any(media_type in (*OFFERED, "*/*") for media_type in given):
        raise _NoSuchMediaType(f"406: Not Acceptable\n\nAvailable representations: {MEDIA_TYPES}")


def _of_resource(media_type: str, conversion: Conversion | None) -> bool:
    """Return whether the media type is allowed for a resource (RequestScope.AllowsMediaTypeTransform)."""
    if conversion is None:
        return True
    if conversion.group != META or conversion.version not in ("v1", "v1beta1"):
        return False
    return conversion.kind in FORMS and (conversion.kind != "Table" or media_type != PROTOBUF)


def _of_custom_resource(media_type: str, conversion: Conversion | None) -> bool:
    """Return whether the media type is allowed for a custom resource, which has no Protocol Buffers; its
    metadata have."""
    return (conversion is not None or media_type != PROTOBUF) and _of_resource(media_type, conversion)


def _item(resource: Resource, stored: Manifest) -> Manifest:
    """Return an object as an item of a list: only custom resources have ``apiVersion`` and ``kind`` there."""
    shown = to_served(resource, stored)
    if is_custom(resource):
        return shown
    return {field: value for field, value in shown.items() if field not in ("apiVersion", "kind")}


def _go_type(resource: Resource, *, is_list: bool) -> str:
    """Return the name of the API server's internal Go type, which upstream's message contains. Events of both
    groups are of one type; a custom resource has none."""
    kind = f"{resource.kind}List" if is_list else resource.kind
    if is_custom(resource):
        return f"*unstructured.Unstructured{'List' if is_list else ''}"
    group = "core" if resource.kind == "Event" else resource.group.partition(".")[0] or "core"
    return f"*{group}.{kind}"
