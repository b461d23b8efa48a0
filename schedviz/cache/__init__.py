"""What a web process knows of the sandboxes that it reads: one :class:`SandboxCache` for each.

Pages, frames, lists and watches read it, so that all of them show the same revision.
"""

from schedviz.cache.caches import Caches, default_caches, read_current
from schedviz.cache.present import Present
from schedviz.cache.sandbox_cache import News, SandboxCache

__all__ = ["Caches", "News", "Present", "SandboxCache", "default_caches", "read_current"]
