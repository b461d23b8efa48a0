"""The resources that a sandbox serves, derived once for each change of its definitions.

A discovery document or an index of OpenAPI needs the names of all resources. Real definitions have 200 kB
each, so they are not read again as long as none of them was written.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from threading import Lock
from typing import Any, Final, TypeVar

import msgspec

from schedviz.store.bounds import TOMBSTONE_SECONDS
from schedviz.store.default import default_store
from schedviz.store.past import Readable
from simulator.apiserver.lookup import find_other_resources
from simulator.apiserver.resource import CRDS, Resource
from simulator.apiserver.resources import BUILT_IN, find_built_in

KEPT_SANDBOXES: Final = 64
"""Sandboxes whose resources a process keeps: those that were read last. Each has less than 1 MB beside 500
definitions."""
KEPT_SECONDS: Final = TOMBSTONE_SECONDS / 2
"""Seconds after which they are derived again, whatever their version: a sandbox of the same name may use the
versions again when the counters of a deleted one are gone."""
T = TypeVar("T")


class Served:
    """The resources of a sandbox, and the documents that are made of their names."""

    def __init__(self, others: Iterable[Resource] = ()) -> None:
        """others: the resources that not every sandbox has, complete."""
        by_root: dict[str, list[Resource]] = {}
        for resource in others:
            by_root.setdefault(root_of(resource), []).append(resource)
        self.digests: Final = {root: digest_of(found) for root, found in by_root.items()}
        """The digests of these resources, by their root: ``apis/example.com/v1``."""
        self.groups: Final[dict[str, dict[str, list[Resource]]]] = {}
        """Group -> version -> its resources. Those that are not built in lack their schemas and columns."""
        for each in (*BUILT_IN, *(_named(other) for found in by_root.values() for other in found)):
            self.groups.setdefault(each.group, {}).setdefault(each.version, []).append(each)
        self._documents: dict[object, Any] = {}

    @property
    def resources(self) -> Iterable[Resource]:
        return (each for group in self.groups.values() for found in group.values() for each in found)

    def document(self, name: object, make: Callable[[], T]) -> T:
        """Return the document of that name, which is made when it is first read."""
        if name not in self._documents:
            self._documents[name] = make()
        found: T = self._documents[name]
        return found


class _Kept:
    """What is known of one sandbox. ``lock`` is held while its definitions are read, so that requests at the
    same time read them once."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.version: tuple[int, ...] | None = None
        """The version of the definitions; None = they were not read yet."""
        self.read_at = 0.0
        self.defined: set[str] = set()
        """The ids of the resources that have definitions."""
        self.undefined: dict[str, int] = {}
        """The resources of which objects are stored although nothing defines them, with the versions of
        these: the names of such a resource are those of its objects."""
        self.served = Served()

    def find_undefined(self, versions: Mapping[str, int]) -> dict[str, int]:
        return {
            name: version
            for name, version in versions.items()
            if name not in self.defined and not find_built_in(*_group_and_plural(name))
        }


_kept: Final[OrderedDict[str, _Kept]] = OrderedDict()
_lock: Final = Lock()


def find_served(source: Readable) -> Served:
    """Return what a sandbox serves now, or served at a past moment."""
    kept = _kept_of(source.name)
    with kept.lock:
        versions = source.collection_versions()
        # A server that was restarted may have lost its last second, and uses versions again.
        version = versions.get(CRDS, 0), default_store().starts(source.name)
        is_old = time.monotonic() - kept.read_at > KEPT_SECONDS
        if is_old or kept.version != version or kept.undefined != kept.find_undefined(versions):
            kept.read_at = time.monotonic()
            kept.defined = {*source.names(CRDS)}
            kept.undefined = kept.find_undefined(versions)
            kept.served = Served(find_other_resources(source))
            kept.version = version
        return kept.served


def root_of(resource: Resource) -> str:
    """Return the beginning of the paths of a resource: ``apis/apps/v1``."""
    return f"{'apis' if resource.group else 'api'}/{resource.api_version}"


def digest_of(resources: Iterable[Resource]) -> str:
    return sha256(msgspec.json.encode([*resources])).hexdigest().upper()


def _kept_of(name: str) -> _Kept:
    with _lock:
        kept = _kept.setdefault(name, _Kept())
        _kept.move_to_end(name)
        if len(_kept) > KEPT_SANDBOXES:
            _kept.popitem(last=False)
        return kept


def _named(resource: Resource) -> Resource:
    """Return a resource without the texts of its definition."""
    return msgspec.structs.replace(resource, schema_text="", columns_text="")


def _group_and_plural(name: str) -> tuple[str, str]:
    plural, _, group = name.partition(".")
    return group, plural
