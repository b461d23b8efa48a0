"""Redis as etcd and API server: one atomic commit, versions, a watch log. See :class:`Sandbox`."""

from schedviz.store.errors import (
    CollectionChanged,
    Gone,
    LimitReached,
    NoSandbox,
    SandboxExists,
    StaleLease,
    StoreError,
)
from schedviz.store.model import Clock, Lease, Listing, Meta, Renewal, Steps
from schedviz.store.sandbox import Sandbox
from schedviz.store.store import Store

__all__ = [
    "Clock",
    "CollectionChanged",
    "Gone",
    "Lease",
    "LimitReached",
    "Listing",
    "Meta",
    "NoSandbox",
    "Renewal",
    "Sandbox",
    "SandboxExists",
    "StaleLease",
    "Steps",
    "Store",
    "StoreError",
]
