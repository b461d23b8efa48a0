"""The caches of a web process: one :class:`SandboxCache` for each sandbox that it reads.

Pages, frames, lists and watches read it, so all of them show the same revision.
"""

from schedviz.cache.caches import Caches, Current, default_caches, features_of, find_handle, read_current
from schedviz.cache.present import Present
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
    "read_current",
]
