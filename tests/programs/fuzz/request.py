"""A request of the fuzz, as it is sent."""

from typing import Literal

import msgspec

Answer = Literal["whole", "first", "none", "socket"]
"""What the client does: read the whole answer, read its first bytes and close the connection, close it at
once (after half of the body, if there is one), or open a websocket."""


class Request(msgspec.Struct, frozen=True):
    number: int
    method: str
    path: str
    """With its query, encoded; ASCII without spaces."""
    headers: list[tuple[str, str]] = []
    body: bytes = b""
    answer: Answer = "whole"
    messages: list[str] = []
    """The messages that a websocket is sent."""

    def __str__(self) -> str:
        return f"{self.method} {self.path[:300]}"

    def whole(self) -> str:
        """All of it, to be read."""
        lines = [f"{self.method} {self.path}", *(f"{name}: {value}" for name, value in self.headers), ""]
        body = self.body.decode(errors="backslashreplace")
        return "\n".join([*lines, body, *(f"> {message}" for message in self.messages)])
