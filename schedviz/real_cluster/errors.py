"""What can go wrong with a real cluster. Each message is one line for users."""


class ClusterError(Exception):
    """The cluster cannot be read."""


class Refused(ClusterError):
    """The API server answers a request with an error. ``code``: the HTTP status."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    @property
    def is_forbidden(self) -> bool:
        return self.code == 403

    @property
    def is_missing(self) -> bool:
        return self.code == 404

    @property
    def is_expired(self) -> bool:
        """Whether a list cannot go on, as what it read is no longer kept."""
        return self.code == 410
