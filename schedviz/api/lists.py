"""Lists a collection in pages, which all show the state at one version.

Upstream: ValidateListOptions and PrepareContinueToken in apiserver/pkg/storage, GetList in its cacher.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from schedviz.cache import default_caches, read_current
from schedviz.store import Gone, Sandbox, codec
from schedviz.store.model import Listing, StoredListing
from simulator.api import Manifest
from simulator.apiserver.list_options import (
    EXACT,
    LATEST,
    ContinuePosition,
    ListOptions,
    parse_continue_token,
)
from simulator.apiserver.query import parse_resource_version
from simulator.apiserver.request_errors import ContinueExpired, Expired, VersionTooLarge
from simulator.apiserver.resource import Resource
from simulator.apiserver.selection import Predicate
from simulator.apiserver.status import BadRequest
from simulator.kernel.work import check_waiting
from simulator.objects.metadata import name_of, namespace_of


class Page(msgspec.Struct, frozen=True):
    items: Iterator[Manifest]
    """They are decoded one by one: all of a sandbox take hundreds of megabytes."""
    metadata: Manifest
    """The metadata of the list: its version and, if more pages follow, the continue token."""


def page(
    sandbox: Sandbox,
    resource: Resource,
    options: ListOptions,
    *,
    namespace: str = "",
    selected: Predicate | None = None,
) -> Page:
    """Return one page of the selected objects of a namespace, or of all. Raises BadRequest, Expired,
    VersionTooLarge."""
    listed, after = _listed(sandbox, resource, options)
    # A list at any version has no pages (shouldDelegateList of the cacher).
    limit = 0 if options.resource_version == "0" else options.limit
    prefix = f"{namespace}/" if namespace else ""
    keys = [key for key in listed.keys if key.startswith(prefix) and key > after]
    metadata: Manifest = {"resourceVersion": str(listed.version)}
    if not 0 < limit < len(keys):
        return Page(_taken(listed, keys, selected), metadata)
    if selected is None:
        metadata["continue"] = ContinuePosition(keys[limit - 1], listed.version).token()
        metadata["remainingItemCount"] = len(keys) - limit
        return Page(_taken(listed, keys[:limit], selected), metadata)
    shown: list[Manifest] = []
    last = ""
    for key in keys:
        if len(shown) == limit:
            metadata["continue"] = ContinuePosition(last, listed.version).token()
            break
        for item in _taken(listed, [key], selected):
            shown.append(item)
            last = key
    return Page(iter(shown), metadata)


class _Listed(NamedTuple):
    version: int
    keys: Sequence[str]
    take: Callable[[str], Manifest]
    """Returns the object of a key, once: memory holds each in one form only."""


def _taken(listed: _Listed, keys: Iterable[str], selected: Predicate | None) -> Iterator[Manifest]:
    for key in keys:
        check_waiting()
        item = listed.take(key)
        if selected is None or selected(item):
            yield item


def _of_stored(listing: StoredListing) -> _Listed:
    def take(key: str) -> Manifest:
        version, data = listing.objects.pop(key)
        return codec.with_version(data, version)

    return _Listed(listing.version, [*listing.objects], take)


def _of_old(resource: Resource, listing: Listing) -> _Listed:
    objects = {resource.key(namespace_of(item), name_of(item)): item for item in listing.items}
    return _Listed(listing.version, [*objects], objects.pop)


def _listed(sandbox: Sandbox, resource: Resource, options: ListOptions) -> tuple[_Listed, str]:
    """Return the state that a list shows, and the key after which its page begins.

    The current state is read from the sandbox's cache if it has one, after one round trip for the changes
    (upstream: ConsistentListFromCache). Version "0" allows any version: a cache that is kept up to date is
    read without a round trip."""
    if options.continue_token:
        place = parse_continue_token(options.continue_token)
        if options.resource_version not in ("", "0"):
            raise BadRequest("specifying resource version is not allowed when using continue")
        if place.version == LATEST:
            return _of_stored(read_current(sandbox).stored_list(resource.id)), place.after
        try:
            return _of_old(resource, sandbox.list_at(resource.id, place.version)), place.after
        except Gone:
            raise ContinueExpired(ContinuePosition(place.after, LATEST).token()) from None
    if options.resource_version == "0" and (present := default_caches().followed(sandbox.name)):
        return _of_stored(present.stored_list(resource.id)), ""
    wanted = parse_resource_version(options.resource_version, "invalid resource version: ")
    if wanted and (options.resource_version_match == EXACT or _is_exact_of_old(options)):
        try:
            return _of_old(resource, sandbox.list_at(resource.id, wanted)), ""
        except Gone:
            current = sandbox.version()
            if wanted > current:
                raise VersionTooLarge(wanted, current) from None
            raise Expired("The resourceVersion for the provided list is too old.") from None
    listing = read_current(sandbox).stored_list(resource.id)
    if wanted > listing.version:
        raise VersionTooLarge(wanted, listing.version)
    return _of_stored(listing), ""


def _is_exact_of_old(options: ListOptions) -> bool:
    """Whether a list of an old client means exactly its version: without resourceVersionMatch, a version with
    a limit does."""
    return options.limit > 0 and not options.resource_version_match
