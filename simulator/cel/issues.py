"""The errors that the check of an expression finds, printed as cel-go prints them (common/errors.go)."""

from typing import Final

from simulator.cel.types import Type

_MAX_ISSUES: Final = 100


class Issues:
    """Errors with their places in the source."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: list[tuple[int, str]] = []
        """The offset and the text of each."""

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, offset: int, text: str) -> None:
        """Adds an error at an offset, in code points."""
        self._found.append((offset, text))

    def add_undeclared(self, offset: int, name: str) -> None:
        """Adds that nothing has this name."""
        self.add(offset, f"undeclared reference to '{name}' (in container '')")

    def add_mismatch(self, offset: int, wanted: Type, found: Type) -> None:
        """Adds that a type was expected and another was found."""
        self.add(offset, f"expected type '{wanted}' but found '{found}'")

    def __str__(self) -> str:
        found = sorted(self._found[:_MAX_ISSUES], key=lambda each: each[0])
        lines = [self._print(*each) for each in found]
        more = len(self._found) - _MAX_ISSUES
        return "\n".join([*lines, f"{more} more errors were truncated"] if more > 0 else lines)

    def _print(self, offset: int, text: str) -> str:
        before = self._source[:offset]
        number = before.count("\n") + 1
        column = offset - (before.rfind("\n") + 1)
        line = self._source.split("\n")[number - 1].replace("\t", " ")
        dots = "".join("." if each.isascii() else "\uff0e" for each in line[:column])
        mark = "^" if line[column : column + 1].isascii() else "\uff3e"
        return f"ERROR: <input>:{number}:{column + 1}: {text}\n | {line}\n | {dots}{mark}"
