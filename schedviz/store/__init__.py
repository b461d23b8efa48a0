"""Stores sandboxes in Redis, as etcd and the API server store a cluster: atomic commits, versions, a watch
log. See :class:`Sandbox`."""

from schedviz.store.commit import Commit
from schedviz.store.errors import (
    CollectionChanged,
    Gone,
    Held,
    LimitReached,
    NoSandbox,
    Overtaken,
    SandboxExists,
    StaleLease,
    StoreError,
    Unreadable,
)
from schedviz.store.model import Clock, Failure, Lease, Listing, Meta, Renewal, Steps
from schedviz.store.sandbox import Sandbox
from schedviz.store.store import Store
from schedviz.store.trouble import Trouble, trouble_of

__all__ = [
    "Clock",
    "CollectionChanged",
    "Commit",
    "Failure",
    "Gone",
    "Held",
    "Lease",
    "LimitReached",
    "Listing",
    "Meta",
    "NoSandbox",
    "Overtaken",
    "Renewal",
    "Sandbox",
    "SandboxExists",
    "StaleLease",
    "Steps",
    "Store",
    "StoreError",
    "Trouble",
    "Unreadable",
    "trouble_of",
]
