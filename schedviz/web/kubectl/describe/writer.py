"""The text that kubectl describe writes: parts with an indentation, whose tabs become columns at the end."""

from typing import Final

from schedviz.web.kubectl.tables import tabbed

INDENT: Final = "  "
"""The indentation of one level."""


class Writer:
    """Collects parts of text (PrefixWriter). A part may end in the middle of a line."""

    def __init__(self, indent: int = 0, parts: list[str] | None = None) -> None:
        self._indent = indent
        self._parts: list[str] = [] if parts is None else parts

    def nested(self, indent: int) -> "Writer":
        """Return a writer to the same text, whose parts are indented further. As kubectl's, it also indents
        the parts in the middle of a line."""
        return Writer(self._indent + indent, self._parts)

    def part(self, level: int, text: str) -> None:
        self._parts.append(INDENT * (level + self._indent) + _escape(text))

    def line(self, level: int, text: str) -> None:
        self.part(level, f"{text}\n")

    def text(self) -> str:
        return "\n".join(tabbed("".join(self._parts).removesuffix("\n").split("\n")))


def _escape(text: str) -> str:
    """Escape what a terminal would obey (EscapeTerminal)."""
    return text.replace("\x1b", "^[").replace("\r", "\\r")
