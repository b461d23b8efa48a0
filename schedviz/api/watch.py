"""Answers watches: streams the changes of a collection after a version, one JSON object per line."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import Final

from django.http import StreamingHttpResponse
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.access.standing import Standing
from schedviz.api.accept import JSON
from schedviz.api.refused import Unauthorized
from schedviz.api.representation import Representation
from schedviz.api.target import Target
from schedviz.api.watch_lines import WatchLines, encode_event
from schedviz.api.watch_reader import Reader, Withdrawn
from schedviz.api.watch_scope import WatchScope
from schedviz.cache import Present, default_caches
from schedviz.limits import pools
from schedviz.limits.open_counts import WATCHES
from schedviz.limits.requester import Requester
from schedviz.metrics import server as metrics
from schedviz.store import Gone, NoSandbox, Sandbox
from schedviz.store.codec import watch_event
from simulator.api import Manifest
from simulator.apiserver.list_options import ListOptions
from simulator.apiserver.query import parse_resource_version
from simulator.apiserver.request_errors import Expired, VersionTooLarge
from simulator.apiserver.resource import Resource
from simulator.apiserver.selection import Predicate
from simulator.apiserver.status import NotFound, TooManyRequests

TIMEOUT_SECONDS = 1800
"""Duration of a watch that sets no timeout: upstream's --min-request-timeout."""
BOOKMARK_SECONDS = 60
"""Interval of bookmarks, if the client allows them."""
AHEAD_SECONDS = 3
"""Seconds for which a watch waits for a version that is not reached yet: blockTimeout of upstream's watch
cache."""
AWAY = (RedisConnectionError, RedisTimeoutError, ConnectionError)

NOBODY: Final = Requester()
"""A requester whose watches count only for the bound of all watches."""
INITIAL_EVENTS_END = "k8s.io/initial-events-end"

metrics.WATCHES.set_function(WATCHES.total)


def watch(
    sandbox: Sandbox,
    resource: Resource,
    target: Target,
    options: ListOptions,
    *,
    selected: Predicate | None,
    form: Representation,
    standing: Standing,
    requester: Requester = NOBODY,
) -> StreamingHttpResponse:
    """Return the streamed response. It ends when the right to view is withdrawn. Errors of a version that
    could be parsed are events of the stream, as upstream (Watch in apiserver/pkg/storage/cacher/cacher.go).
    Raises BadRequest, TooManyRequests."""
    WATCHES.check(pools.WATCHES.shares(requester, sandbox.name))
    wanted, present = parse_resource_version(options.resource_version), default_caches().read(sandbox.name)
    current = present.version()
    scope = WatchScope(resource, target, selected)
    watch_lines = WatchLines(resource, form, present)
    seconds = max(0, options.timeout_seconds or 0) if options.timeout_seconds else TIMEOUT_SECONDS
    if wanted > current:
        return _answer(form, _ahead(sandbox, form, wanted, seconds, standing=standing, requester=requester))
    version, first = wanted or current, []
    if options.send_initial_events:
        listing = present.list(resource.id)
        version, items = listing.version, [item for item in listing.items if scope.covers(item)]
        scope.remember(items)
        first = [watch_lines.line("ADDED", item) for item in items if scope.selects(item)]
        if options.allow_watch_bookmarks:
            first.append(watch_lines.bookmark(version, {INITIAL_EVENTS_END: "true"}))
    elif selected:
        try:
            scope.remember(sandbox.list_at(resource.id, version).items)
        except Gone:
            scope.remember(_unwritten_since(present, resource, version), is_all=False)
    bookmarks = options.allow_watch_bookmarks
    return _answer(
        form,
        _stream(
            sandbox,
            scope,
            watch_lines,
            version,
            first,
            seconds=seconds,
            bookmarks=bookmarks,
            standing=standing,
            requester=requester,
        ),
    )


def _unwritten_since(present: Present, resource: Resource, version: int) -> Iterator[Manifest]:
    """Yield the objects that were not written after ``version``."""
    items = present.list(resource.id).items
    return (item for item in items if int(item["metadata"]["resourceVersion"]) <= version)


async def _or_refused(form: Representation, lines: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """Yield the lines, or an ERROR event if this process has too many watches."""
    try:
        async with aclosing(lines):
            async for line in lines:
                yield line
    except TooManyRequests as refusal:
        yield encode_event(form, "ERROR", refusal.status())


def _answer(form: Representation, lines: AsyncGenerator[bytes, None]) -> StreamingHttpResponse:
    content_type = JSON if form.media_type == JSON else f"{form.media_type};stream=watch"
    return StreamingHttpResponse(_or_refused(form, lines), content_type=content_type)


async def _ahead(
    sandbox: Sandbox,
    form: Representation,
    version: int,
    seconds: float,
    *,
    standing: Standing,
    requester: Requester,
) -> AsyncGenerator[bytes, None]:
    """Yield the lines of a watch whose version is not reached yet: it waits, and the client then watches
    again."""
    with _counted(requester, sandbox.name):
        end = asyncio.get_running_loop().time() + min(seconds, AHEAD_SECONDS)
        try:
            async with Reader.of(sandbox, "", version, standing) as reader:
                current = await reader.reached(end)
        except NoSandbox:
            yield encode_event(form, "ERROR", NotFound("sandboxes", sandbox.name).status())
        except AWAY:
            return
        else:
            if current < version and seconds > AHEAD_SECONDS:
                yield encode_event(form, "ERROR", VersionTooLarge(version, current).status())


async def _stream(
    sandbox: Sandbox,
    scope: WatchScope,
    watch_lines: WatchLines,
    version: int,
    first: Sequence[bytes],
    *,
    seconds: float,
    bookmarks: bool,
    standing: Standing,
    requester: Requester,
) -> AsyncGenerator[bytes, None]:
    with _counted(requester, sandbox.name):
        try:
            end = asyncio.get_running_loop().time() + seconds
            for line in first:
                yield line
            async with (
                Reader.of(sandbox, scope.resource.id, version, standing) as reader,
                aclosing(_until(reader, scope, watch_lines, end, bookmarks=bookmarks)) as lines,
            ):
                async for line in lines:
                    yield line
        except Gone as error:
            yield watch_lines.error(Expired(str(error)))
        except NoSandbox:
            yield watch_lines.error(NotFound("sandboxes", sandbox.name))
        except Withdrawn:
            yield watch_lines.error(Unauthorized())
        except AWAY:
            return  # the stream ends, and the client watches again


@contextmanager
def _counted(requester: Requester, sandbox: str) -> Iterator[None]:
    """Count an open watch. Raises LimitExceeded: other watches may have begun since the check of
    :func:`watch`."""
    leave = WATCHES.enter(pools.WATCHES.shares(requester, sandbox))
    try:
        yield
    finally:
        leave()


async def _until(
    reader: Reader, scope: WatchScope, watch_lines: WatchLines, end: float, *, bookmarks: bool
) -> AsyncGenerator[bytes, None]:
    """Yield the lines until the time ``end`` of the event loop."""
    loop = asyncio.get_running_loop()
    bookmark_at = loop.time() + BOOKMARK_SECONDS
    while loop.time() < end:
        for event in await reader.read(min(end, bookmark_at)):
            if not scope.covers_key(event.entry.key):
                continue
            if scope.shows_all:
                yield watch_lines.event(event)
            elif found := scope.shown_as(watch_event(event.entry)):
                yield watch_lines.line(*found)
        if loop.time() >= bookmark_at:
            bookmark_at += BOOKMARK_SECONDS
            if bookmarks:
                yield watch_lines.bookmark(reader.version)
    if bookmarks:
        yield watch_lines.bookmark(reader.version)
