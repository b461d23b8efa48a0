"""The error of a limit that is reached."""

from schedviz.limit_settings import LimitName
from schedviz.metrics.server import refused
from simulator.apiserver.status import TooManyRequests


class LimitExceeded(TooManyRequests):
    """The API responds with its Status; pages show a text of their own."""

    def __init__(self, limit: LimitName, at_most: int, seconds: int = 0) -> None:
        """seconds: after which it may be tried again; 0 = that depends on what others do, and no time is
        stated. The refusal is counted."""
        super().__init__(f"too many requests: {limit} is {at_most}; please try again later")
        self.limit = limit
        self.retry_after_seconds = seconds
        refused(limit)
