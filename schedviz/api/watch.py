"""Watches: a collection's changes from a version on, one JSON object a line, as they are committed."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager

import msgspec
from django.http import StreamingHttpResponse
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.api import body
from schedviz.api.representation import Representation
from schedviz.api.target import Target
from schedviz.api.watch_reader import Reader
from schedviz.cache import Present, default_caches
from schedviz.cache.held import RingEvent
from schedviz.store import Gone, NoSandbox, Sandbox
from schedviz.store.codec import watch_event
from simulator.api import Manifest, Micros, WatchEvent
from simulator.apiserver.event_versions import to_served
from simulator.apiserver.list_options import ListOptions
from simulator.apiserver.query import parse_resource_version
from simulator.apiserver.resources import Resource
from simulator.apiserver.selection import Predicate
from simulator.apiserver.status import Expired, NotFound, TooManyRequests, VersionTooLarge
from simulator.objects.metadata import name_of, namespace_of

TIMEOUT_SECONDS = 1800
"""Of a watch that names none: upstream's --min-request-timeout."""
BOOKMARK_SECONDS = 60
"""Between bookmarks, for watchers that want them."""
AHEAD_SECONDS = 3
"""How long a watch waits for a version that was not reached yet: blockTimeout of upstream's watch cache."""
MAX_WATCHES = 1_000
"""In this process. All of a sandbox read its cache; none has a connection to Redis of its own."""
AWAY = (RedisConnectionError, RedisTimeoutError, ConnectionError)

INITIAL_EVENTS_END = "k8s.io/initial-events-end"

_open = 0


def watch(
    sandbox: Sandbox,
    resource: Resource,
    target: Target,
    options: ListOptions,
    *,
    selected: Predicate | None,
    form: Representation,
) -> StreamingHttpResponse:
    """The streamed answer. What goes wrong with a version that could be read is an event of the stream, as
    upstream (Watch in apiserver/pkg/storage/cacher/cacher.go). Raises BadRequest, TooManyRequests."""
    if _open >= MAX_WATCHES:
        raise _too_many()
    asked, present = parse_resource_version(options.resource_version), default_caches().read(sandbox.name)
    current = present.version()
    scope = Scope(resource, target, selected)
    shown = Shown(resource, form, present)
    seconds = max(0, options.timeout_seconds or 0) if options.timeout_seconds else TIMEOUT_SECONDS
    if asked > current:
        return _answer(_ahead(sandbox, asked, seconds))
    version, first = asked or current, []
    if options.send_initial_events:
        listing = present.list(resource.id)
        version, items = listing.version, [item for item in listing.items if scope.covers(item)]
        scope.remember(items)
        first = [shown.line("ADDED", item) for item in items if scope.selects(item)]
        if options.allow_watch_bookmarks:
            first.append(shown.bookmark(version, {INITIAL_EVENTS_END: "true"}))
    elif selected:
        try:
            scope.remember(sandbox.list_at(resource.id, version).items)
        except Gone:
            scope.remember(_unwritten_since(present, resource, version), is_all=False)
    bookmarks = options.allow_watch_bookmarks
    return _answer(_stream(sandbox, scope, shown, version, first, seconds=seconds, bookmarks=bookmarks))


class Scope:
    """Which events a watch shows: of a resource, in a namespace, selected.

    With a selector, an object that comes to match is shown as added. One that no longer does is shown as
    deleted, in its last state that matched."""

    def __init__(self, resource: Resource, target: Target, selected: Predicate | None) -> None:
        self.resource = resource
        self._target = target
        self._selected = selected
        self._matching: dict[str, Manifest] = {}
        """With a selector: the objects that match, by key."""
        self._known: set[str] | None = None
        """With a selector, where not all objects of the beginning are known: the keys of those that are."""

    def covers(self, manifest: Manifest) -> bool:
        metadata = manifest["metadata"]
        return self._target.namespace in ("", metadata.get("namespace", "")) and self._target.name in (
            "",
            metadata["name"],
        )

    def selects(self, manifest: Manifest) -> bool:
        return self._selected is None or self._selected(manifest)

    def remember(self, items: Iterable[Manifest], *, is_all: bool = True) -> None:
        """The objects that the watch begins with, or only some of them."""
        if self._selected is None:
            return
        found = {_key(self.resource, item): item for item in items if self.covers(item)}
        self._matching = {key: item for key, item in found.items() if self._selected(item)}
        self._known = None if is_all else {*found}

    @property
    def shows_all(self) -> bool:
        """Whether each event that it covers is shown as it is."""
        return self._selected is None

    def covers_key(self, key: str) -> bool:
        namespace, _, name = key.rpartition("/")
        return self._target.namespace in ("", namespace) and self._target.name in ("", name)

    def shown_as(self, event: WatchEvent) -> tuple[str, Manifest] | None:
        """The type to show an event under that it covers, and the object; None hides it."""
        if self._selected is None:
            return event.type, event.object
        before = self._before(event)
        if event.type != "DELETED" and self._selected(event.object):
            self._matching[event.key] = event.object
            return "MODIFIED" if before else "ADDED", event.object
        if before is None:
            return None
        metadata = before["metadata"] | {"resourceVersion": str(event.version)}
        return "DELETED", {**before, "metadata": metadata}

    def _before(self, event: WatchEvent) -> Manifest | None:
        """The object before an event, if it matched. One of which this is not known counts as matching: to
        delete what the watcher does not know does no harm."""
        if self._known is not None and event.key not in self._known:
            self._known.add(event.key)
            return None if event.type == "ADDED" else event.object
        return self._matching.pop(event.key, None)


class Shown:
    """The lines of a watch, in the form that was asked for."""

    def __init__(self, resource: Resource, form: Representation, present: Present) -> None:
        """present: whose clock the ages in tables are counted by."""
        self._resource = resource
        self._form = form
        self._clock = present.clock()
        self._wall = present.wall
        self._has_columns = False
        """Whether a table was shown: only the first one says its columns."""

    def event(self, event: RingEvent) -> bytes:
        """The line of an event that is shown as it is. It is encoded once for all watches of its form, but
        for tables, whose rows have ages."""
        if self._form.form == "Table":
            return self._line_of(event)
        form = self._resource.api_version, self._form
        line = event.lines.get(form)
        if line is None:
            line = event.lines[form] = self._line_of(event)
        return line

    def _line_of(self, event: RingEvent) -> bytes:
        return self.line(event.entry.type, watch_event(event.entry).object)

    def line(self, kind: str, manifest: Manifest) -> bytes:
        shown = self._form.one(self._resource, manifest, self._now)
        if self._form.form == "Table":
            if self._has_columns:
                shown["columnDefinitions"] = None
            self._has_columns = True
        return _line(kind, shown)

    def bookmark(self, version: int, annotations: dict[str, str] | None = None) -> bytes:
        metadata: Manifest = {"resourceVersion": str(version)}
        if annotations:
            metadata["annotations"] = annotations
        manifest: Manifest = {"metadata": metadata}
        if self._form.form == "PartialObjectMetadata":
            return _line("BOOKMARK", self._form.one(self._resource, manifest, self._now))
        return _line("BOOKMARK", to_served(self._resource, manifest))

    def _now(self) -> Micros:
        return self._clock.now(self._wall.now())


def _unwritten_since(present: Present, resource: Resource, version: int) -> Iterator[Manifest]:
    items = present.list(resource.id).items
    return (item for item in items if int(item["metadata"]["resourceVersion"]) <= version)


async def _or_refused(lines: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """The lines, or an ERROR event where this process has no place for another watch."""
    try:
        async with aclosing(lines):
            async for line in lines:
                yield line
    except TooManyRequests as refusal:
        yield _line("ERROR", refusal.status())


def _answer(lines: AsyncGenerator[bytes, None]) -> StreamingHttpResponse:
    return StreamingHttpResponse(_or_refused(lines), content_type=body.JSON)


async def _ahead(sandbox: Sandbox, version: int, seconds: float) -> AsyncGenerator[bytes, None]:
    """The answer to a watch of a version that was not reached yet: it is waited for, and asked for again."""
    with _counted():
        end = asyncio.get_running_loop().time() + min(seconds, AHEAD_SECONDS)
        try:
            async with Reader.of(sandbox, "", version) as reader:
                current = await reader.reached(end)
        except NoSandbox:
            yield _line("ERROR", NotFound("sandboxes", sandbox.name).status())
        except AWAY:
            return
        else:
            if current < version and seconds > AHEAD_SECONDS:
                yield _line("ERROR", VersionTooLarge(version, current).status())


async def _stream(
    sandbox: Sandbox,
    scope: Scope,
    shown: Shown,
    version: int,
    first: Sequence[bytes],
    *,
    seconds: float,
    bookmarks: bool,
) -> AsyncGenerator[bytes, None]:
    with _counted():
        try:
            end = asyncio.get_running_loop().time() + seconds
            for line in first:
                yield line
            async with (
                Reader.of(sandbox, scope.resource.id, version) as reader,
                aclosing(_until(reader, scope, shown, end, bookmarks=bookmarks)) as lines,
            ):
                async for line in lines:
                    yield line
        except Gone as error:
            yield _line("ERROR", Expired(str(error)).status())
        except NoSandbox:
            yield _line("ERROR", NotFound("sandboxes", sandbox.name).status())
        except AWAY:
            return  # the watch ends with its server; the watcher comes back


@contextmanager
def _counted() -> Iterator[None]:
    """Count an open watch. Raises TooManyRequests: others may have begun since :func:`watch` looked, and
    nothing is awaited between this check and the count."""
    global _open  # noqa: PLW0603 (a count of this process's, touched by its event loop only)
    if _open >= MAX_WATCHES:
        raise _too_many()
    _open += 1
    try:
        yield
    finally:
        _open -= 1


async def _until(
    reader: Reader, scope: Scope, shown: Shown, end: float, *, bookmarks: bool
) -> AsyncGenerator[bytes, None]:
    """The lines until the event loop's time is ``end``."""
    loop = asyncio.get_running_loop()
    bookmark_at = loop.time() + BOOKMARK_SECONDS
    while loop.time() < end:
        for event in await reader.read(min(end, bookmark_at)):
            if not scope.covers_key(event.entry.key):
                continue
            if scope.shows_all:
                yield shown.event(event)
            elif found := scope.shown_as(watch_event(event.entry)):
                yield shown.line(*found)
        if loop.time() >= bookmark_at:
            bookmark_at += BOOKMARK_SECONDS
            if bookmarks:
                yield shown.bookmark(reader.version)
    if bookmarks:
        yield shown.bookmark(reader.version)


def _too_many() -> TooManyRequests:
    return TooManyRequests(f"this server has {MAX_WATCHES} watches open already")


def _line(kind: str, manifest: Manifest) -> bytes:
    return msgspec.json.encode({"type": kind, "object": manifest}) + b"\n"


def _key(resource: Resource, item: Manifest) -> str:
    return resource.key(namespace_of(item), name_of(item))
