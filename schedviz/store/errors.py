"""Exceptions of the store, besides :class:`simulator.api.ApiError`."""

from schedviz.metrics.server import refused


class StoreError(Exception):
    """The base class. Nothing was stored."""


class NoSandbox(StoreError):
    def __init__(self, name: str) -> None:
        super().__init__(f"there is no sandbox {name!r}")


class SandboxExists(StoreError):
    def __init__(self, name: str) -> None:
        super().__init__(f"a sandbox {name!r} exists already")


class Unreadable(StoreError):
    """The stored data of a sandbox cannot be decoded; the sandbox can only be deleted."""

    def __init__(self, name: str, what: str, problem: Exception) -> None:
        super().__init__(f"the {what} of sandbox {name!r} cannot be read: {problem}")
        self.name = name


class Gone(StoreError):
    """The requested version was trimmed, or was never reached (Redis lost its last second of writes). The
    caller must list again."""

    def __init__(self, version: int, oldest: int | None = None) -> None:
        """oldest: the oldest version that is available, if it is known."""
        known = f"too old resource version: {version} ({oldest})"
        super().__init__(known if oldest else f"too old or unknown resource version: {version}")
        self.version = version


class StaleLease(StoreError):
    """Another worker leads the sandbox now; this worker must discard its Leader."""


class Overtaken(StoreError):
    """Not all writes that a leader sent together could be stored. It must be discarded: it has gone on as if
    they were."""


class CollectionChanged(StoreError):
    """A collection was written after the caller had read it. The caller must read it and decide again."""

    def __init__(self, resource: str) -> None:
        super().__init__(f"{resource} changed after they were read")
        self.resource = resource


class Held(StoreError):
    """A sandbox would be replaced while another visitor hides the answers of Predict in it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a presenter hides the answers of Predict in the sandbox {name!r}")
        self.name = name


class LimitReached(StoreError):
    """A bound of :mod:`schedviz.store.bounds` would be exceeded; the message names it."""

    def __init__(self, limit: str, message: str) -> None:
        """limit: the name of the bound, by which the refusal is counted."""
        super().__init__(message)
        self.limit = limit
        refused(limit)


class WrongServers(StoreError):
    """The setting REDIS_CLUSTER_URLS names other servers than those that have the sandboxes, or no
    cluster."""
