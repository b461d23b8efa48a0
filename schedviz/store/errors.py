"""What the store refuses, besides the API server's own :class:`simulator.api.ApiError`."""


class StoreError(Exception):
    """Nothing was stored."""


class NoSandbox(StoreError):
    def __init__(self, name: str) -> None:
        super().__init__(f"there is no sandbox {name!r}")


class SandboxExists(StoreError):
    def __init__(self, name: str) -> None:
        super().__init__(f"a sandbox {name!r} exists already")


class Gone(StoreError):
    """The version asked for was trimmed, or was never reached (Redis lost its last second): list anew."""

    def __init__(self, version: int) -> None:
        super().__init__(f"too old or unknown resource version: {version}")
        self.version = version


class StaleLease(StoreError):
    """Somebody else leads the sandbox now: what this worker believes about it no longer counts."""


class CollectionChanged(StoreError):
    """A collection the caller had read was written since: read it again and decide anew."""

    def __init__(self, resource: str) -> None:
        super().__init__(f"{resource} changed since they were read")
        self.resource = resource


class LimitReached(StoreError):
    """A bound of :mod:`schedviz.store.bounds` was met; the message says which."""
