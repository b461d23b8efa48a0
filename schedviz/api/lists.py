"""Lists a collection in pages, which all show the state at one version.

Upstream: ValidateListOptions and PrepareContinueToken in apiserver/pkg/storage, GetList in its cacher, v1.34.
"""

import msgspec

from schedviz.cache import default_caches, read_current
from schedviz.store import Gone, Sandbox
from schedviz.store.model import Listing
from simulator.api import Manifest
from simulator.apiserver.list_options import EXACT, ListOptions
from simulator.apiserver.paging import LATEST, ContinuePosition, parse_continue_token
from simulator.apiserver.query import parse_resource_version
from simulator.apiserver.request_errors import ContinueExpired, Expired, VersionTooLarge
from simulator.apiserver.resource import Resource
from simulator.apiserver.selection import Predicate
from simulator.apiserver.status import BadRequest
from simulator.kernel.work import check_waiting
from simulator.objects.metadata import name_of, namespace_of


class Page(msgspec.Struct, frozen=True):
    items: list[Manifest]
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
    listing, after = _listing(sandbox, resource, options)
    # A list at any version has no pages (shouldDelegateList of the cacher).
    limit = 0 if options.resource_version == "0" else options.limit
    items = [item for item in listing.items if namespace in ("", item["metadata"].get("namespace"))]
    if after:
        items = [item for item in items if _key(resource, item) > after]
    shown: list[Manifest] = []
    metadata: Manifest = {"resourceVersion": str(listing.version)}
    for item in items:
        check_waiting()
        if limit and len(shown) == limit:
            metadata["continue"] = ContinuePosition(_key(resource, shown[-1]), listing.version).token()
            if selected is None:
                metadata["remainingItemCount"] = len(items) - limit
            break
        if selected is None or selected(item):
            shown.append(item)
    return Page(shown, metadata)


def _listing(sandbox: Sandbox, resource: Resource, options: ListOptions) -> tuple[Listing, str]:
    """Return the state that a list shows, and the key after which its page begins.

    The current state is read from the sandbox's cache if it has one, after one round trip for the changes
    (upstream: ConsistentListFromCache). Version "0" allows any version: a cache that is kept up to date is
    read without a round trip."""
    if options.continue_token:
        place = parse_continue_token(options.continue_token)
        if options.resource_version not in ("", "0"):
            raise BadRequest("specifying resource version is not allowed when using continue")
        if place.version == LATEST:
            return read_current(sandbox).list(resource.id), place.after
        try:
            return sandbox.list_at(resource.id, place.version), place.after
        except Gone:
            raise ContinueExpired(ContinuePosition(place.after, LATEST).token()) from None
    if options.resource_version == "0" and (present := default_caches().followed(sandbox.name)):
        return present.list(resource.id), ""
    wanted = parse_resource_version(options.resource_version, "invalid resource version: ")
    if wanted and (options.resource_version_match == EXACT or _is_exact_of_old(options)):
        try:
            return sandbox.list_at(resource.id, wanted), ""
        except Gone:
            current = sandbox.version()
            if wanted > current:
                raise VersionTooLarge(wanted, current) from None
            raise Expired("The resourceVersion for the provided list is too old.") from None
    listing = read_current(sandbox).list(resource.id)
    if wanted > listing.version:
        raise VersionTooLarge(wanted, listing.version)
    return listing, ""


def _is_exact_of_old(options: ListOptions) -> bool:
    """Whether a list of an old client means exactly its version: without resourceVersionMatch, a version with
    a limit does."""
    return options.limit > 0 and not options.resource_version_match


def _key(resource: Resource, item: Manifest) -> str:
    return resource.key(namespace_of(item), name_of(item))
