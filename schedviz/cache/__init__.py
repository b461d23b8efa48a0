"""The caches of a web process: one :class:`SandboxCache` for each sandbox that it reads.

Pages, frames, lists and watches read it, so all of them show the same revision. A request updates it in one
round trip before it reads (``Caches.read``), so it sees what was written before it.

Not read from it: what decides on a write; what it does not hold (older decisions, the trace behind its bound,
the past, heartbeats); and single figures, for which a whole sandbox would be too much (the home page, the
API's reads of a sandbox without an open page here).
"""

from schedviz.cache.caches import Caches, Current, default_caches, features_of, find_handle, read_current
from schedviz.cache.present import Present
from schedviz.cache.read_ahead import read_ahead, reading_ahead, take_read
from schedviz.cache.sandbox_cache import News, SandboxCache

__all__ = [
    "Caches",
    "Current",
    "News",
    "Present",
    "SandboxCache",
    "default_caches",
    "features_of",
    "find_handle",
    "read_ahead",
    "read_current",
    "reading_ahead",
    "take_read",
]
