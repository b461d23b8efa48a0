"""Watches: a collection's changes from a version on, one JSON object a line, as they are committed."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

import msgspec
from django.http import HttpRequest, StreamingHttpResponse
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.api import body
from schedviz.api.target import Target
from schedviz.store import Gone, NoSandbox, Sandbox
from schedviz.store.aio import ended, watch_events
from schedviz.store.default import default_store
from simulator.api import Manifest, WatchEvent
from simulator.apiserver.resources import Resource
from simulator.apiserver.selection import Predicate
from simulator.apiserver.status import Expired, NotFound, TooManyRequests

TIMEOUT_SECONDS = 1800
"""Of a watch that names none: upstream's --min-request-timeout."""
BOOKMARK_SECONDS = 60
"""Between bookmarks, for watchers that want them."""
MAX_WATCHES = 1_000
"""In this process: each holds a connection to Redis."""

INITIAL_EVENTS_END = "k8s.io/initial-events-end"

_open = 0


def watch(
    request: HttpRequest,
    sandbox: Sandbox,
    resource: Resource,
    target: Target,
    *,
    selected: Predicate | None,
    shown: Callable[[Manifest], Manifest],
) -> StreamingHttpResponse:
    """The streamed answer; ``shown`` is how it shows an object.

    Raises Expired for a version that is no longer, or not yet, in the watch log."""
    if _open >= MAX_WATCHES:
        raise TooManyRequests(f"this server has {MAX_WATCHES} watches open already")
    version = body.whole_number(request, "resourceVersion", 0)
    seconds = body.whole_number(request, "timeoutSeconds", 0) or TIMEOUT_SECONDS
    scope = Scope(resource, target, selected, shown)
    first: list[bytes] = []
    listing = sandbox.list(resource.id)
    if version == 0:
        # "From now": what there is comes first, as additions.
        version = listing.version
        items = (item for item in listing.items if scope.covers(item) and scope.selects(item))
        first.extend(_line("ADDED", shown(item)) for item in items)
        if body.flag(request, "sendInitialEvents"):
            first.append(_bookmark(resource, version, {INITIAL_EVENTS_END: "true"}))
    else:
        try:
            sandbox.events(version, 1)
        except Gone as error:
            raise Expired(str(error)) from None
    scope.remember(listing.items, version)
    bookmarks = body.flag(request, "allowWatchBookmarks")
    stream = _stream(sandbox.name, scope, version, first, seconds, bookmarks=bookmarks)
    return StreamingHttpResponse(stream, content_type="application/json;stream=watch")


class Scope:
    """Which events a watch shows: of a resource, in a namespace, selected.

    With a selector, an object that comes to match is shown as added, one that no longer does as deleted."""

    def __init__(
        self,
        resource: Resource,
        target: Target,
        selected: Predicate | None,
        shown: Callable[[Manifest], Manifest],
    ) -> None:
        self.resource = resource
        self.shown = shown
        self._target = target
        self._selected = selected
        self._shown: dict[str, bool] = {}
        """With a selector: whether each known object matched when it was last seen."""

    def covers(self, manifest: Manifest) -> bool:
        metadata = manifest["metadata"]
        return self._target.namespace in ("", metadata.get("namespace", "")) and self._target.name in (
            "",
            metadata["name"],
        )

    def selects(self, manifest: Manifest) -> bool:
        return self._selected is None or self._selected(manifest)

    def remember(self, items: list[Manifest], version: int) -> None:
        """What matched at a version, as far as it has not changed since."""
        if self._selected:
            for item in items:
                if self.covers(item) and int(item["metadata"]["resourceVersion"]) <= version:
                    self._shown[_key(self.resource, item)] = self._selected(item)

    def shown_as(self, event: WatchEvent) -> str | None:
        """The type to show an event under; None hides it."""
        if event.resource != self.resource.id or not self.covers(event.object):
            return None
        if self._selected is None:
            return event.type
        # What matched before is not known of objects that changed between the watched version and the list:
        # then it counts as shown, as a deletion of the unknown does no harm.
        before = self._shown.pop(event.key, event.type != "ADDED")
        if event.type == "DELETED":
            return "DELETED" if before else None
        after = self._selected(event.object)
        self._shown[event.key] = after
        if after:
            return "MODIFIED" if before else "ADDED"
        return "DELETED" if before else None


async def _stream(
    name: str, scope: Scope, version: int, first: list[bytes], seconds: float, *, bookmarks: bool
) -> AsyncIterator[bytes]:
    global _open  # noqa: PLW0603 (a count of this process's, touched by its event loop only)
    _open += 1
    try:
        for line in first:
            yield line
        # The lines are closed before the events: who still waits for the next event would be in the way.
        async with (
            aclosing(watch_events(default_store().redis_url, name, version)) as events,
            aclosing(_until(events, scope, version, seconds, bookmarks=bookmarks)) as lines,
        ):
            async for line in lines:
                yield line
    except Gone as error:
        yield _line("ERROR", Expired(str(error)).status())
    except NoSandbox:
        yield _line("ERROR", NotFound("sandboxes", name).status())
    except (RedisConnectionError, RedisTimeoutError):
        return  # the watch ends with its server; the watcher comes back
    finally:
        _open -= 1


async def _until(
    events: AsyncGenerator[WatchEvent, None], scope: Scope, version: int, seconds: float, *, bookmarks: bool
) -> AsyncGenerator[bytes, None]:
    """The lines until the time is over."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    bookmark_at = loop.time() + BOOKMARK_SECONDS
    coming: asyncio.Task[WatchEvent] | None = None
    try:
        while (now := loop.time()) < end:
            coming = coming or asyncio.ensure_future(anext(events))
            await asyncio.wait({coming}, timeout=min(end, bookmark_at) - now)
            if coming.done():
                event = coming.result()
                coming = None
                version = event.version
                shown = scope.shown_as(event)
                if shown:
                    yield _line(shown, scope.shown(event.object))
            elif loop.time() >= bookmark_at:
                bookmark_at += BOOKMARK_SECONDS
                if bookmarks:
                    yield _bookmark(scope.resource, version)
        if bookmarks:
            yield _bookmark(scope.resource, version)
    finally:
        if coming:
            await ended(coming)


def _line(kind: str, manifest: Manifest) -> bytes:
    return msgspec.json.encode({"type": kind, "object": manifest}) + b"\n"


def _bookmark(resource: Resource, version: int, annotations: dict[str, str] | None = None) -> bytes:
    metadata: Manifest = {"resourceVersion": str(version)}
    if annotations:
        metadata["annotations"] = annotations
    return _line(
        "BOOKMARK", {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
    )


def _key(resource: Resource, item: Manifest) -> str:
    return resource.key(item["metadata"].get("namespace", ""), item["metadata"]["name"])
