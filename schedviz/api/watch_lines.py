"""The events of a watch, each with a type and an object, in the representation that was asked for: lines of
JSON, or messages of Protocol Buffers with their length before them."""

from schedviz.api.accept import PROTOBUF
from schedviz.api.representation import Representation
from schedviz.cache import Present
from schedviz.cache.held import RingEvent
from schedviz.store.codec import watch_event
from simulator.api import Manifest, Micros
from simulator.apiserver.protobuf_encoding import encode_watch_event
from simulator.apiserver.resource import Resource
from simulator.apiserver.response_json import response_json
from simulator.apiserver.served_features import in_version, served_features
from simulator.apiserver.served_versions import to_served
from simulator.apiserver.status import StatusError
from simulator.apiserver.types.zero_values import empty_object


class WatchLines:
    """Encodes the lines of one watch."""

    def __init__(self, resource: Resource, form: Representation, present: Present) -> None:
        """present: has the clock from which the ages in tables are computed. The lines are of the version
        that is served now."""
        self.features = served_features()
        self._resource = resource
        self._form = form
        self._clock = present.clock()
        self._wall = present.wall
        self._has_columns = False
        """Whether a table was sent. Only the first table has the definitions of its columns."""

    def event(self, event: RingEvent) -> bytes:
        """Return the line of an event that is shown as it is. It is encoded once for all watches with the
        same representation; only tables are encoded each time, because their rows have ages."""
        if self._form.form == "Table":
            return self._line_of(event)
        form = self._resource.api_version, self._form
        line = event.lines.get(form)
        if line is None:
            line = event.lines[form] = self._line_of(event)
        return line

    def _line_of(self, event: RingEvent) -> bytes:
        return self.line(event.entry.type, watch_event(event.entry).object)

    @in_version
    def line(self, kind: str, manifest: Manifest) -> bytes:
        shown = self._form.one(self._resource, manifest, self._now)
        if self._form.form == "Table":
            if self._has_columns:
                shown["columnDefinitions"] = None
            self._has_columns = True
        return self._encode(kind, shown)

    @in_version
    def bookmark(self, version: int, annotations: dict[str, str] | None = None) -> bytes:
        metadata: Manifest = {"resourceVersion": str(version)}
        if annotations:
            metadata["annotations"] = annotations
        manifest: Manifest = {**empty_object(self._resource), "metadata": metadata}
        if self._form.form == "PartialObjectMetadata":
            return self._encode("BOOKMARK", self._form.one(self._resource, manifest, self._now))
        return self._encode("BOOKMARK", to_served(self._resource, manifest))

    def error(self, error: StatusError) -> bytes:
        return self._encode("ERROR", error.status())

    def _encode(self, kind: str, shown: Manifest) -> bytes:
        return encode_event(self._form, kind, shown)

    def _now(self) -> Micros:
        return self._clock.now(self._wall.now())


def encode_event(form: Representation, kind: str, shown: Manifest) -> bytes:
    if form.media_type == PROTOBUF:
        return encode_watch_event(kind, shown)
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), response_json(shown))
