"""Where a history differs from the recorded one, for people."""

import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

MAX_PATHS = 8
"""Fields shown of a line that differs."""
MAX_TEXT = 300
"""Characters shown of a line or a value."""


class Difference(NamedTuple):
    line: int
    """Counted from 1."""
    operation: str
    """The last one before the line."""
    recorded: bytes | None
    """None = the recorded history ends before this line."""
    now: bytes | None
    """None = the history ends before this line now."""


def first_difference(recorded: Sequence[bytes], now: Sequence[bytes]) -> Difference | None:
    """None = there is none.

    A line in which only the order of an object's fields differs counts only if no later line differs in
    more."""
    operation, reordered = "", None
    for number, (old, new) in enumerate(zip_longest(recorded, now), start=1):
        if old != new:
            found = Difference(number, operation, old, new)
            if not _is_reordered(found):
                return found
            reordered = reordered or found
        if new is not None and new.startswith((b'{"kind":"Operation"', b'{"kind": "Operation"', b"# ")):
            operation = _shortened(new.decode())
    return reordered


def report(name: str, recorded: Sequence[bytes], now: Sequence[bytes]) -> str:
    """What is different, in a few lines; "" = nothing is."""
    found = first_difference(recorded, now)
    if found is None:
        return ""
    lines = [f"{name}: line {found.line} differs (recorded {len(recorded)} lines, now {len(now)})"]
    if found.operation:
        lines.append(f"  after:    {found.operation}")
    if _is_reordered(found):
        lines.append("  only the order of fields differs, here and in all lines that differ")
    lines += [f"  {where}" for where in _where(found)]
    lines.append(f"  recorded: {_text(found.recorded)}")
    lines.append(f"  now:      {_text(found.now)}")
    return "\n".join(lines)


def paths(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """The fields in which two JSON values differ, each with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in new:
                yield f"{path}.{key}: missing now, recorded {_value(old[key])}"
            elif key not in old:
                yield f"{path}.{key}: {_value(new[key])}, not recorded"
            else:
                yield from paths(old[key], new[key], f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from paths(before, after, f"{path}[{index}]")
    elif old != new or type(old) is not type(new):
        yield f"{path}: {_value(new)}, recorded {_value(old)}"


def _where(found: Difference) -> list[str]:
    old, new = _decoded(found.recorded), _decoded(found.now)
    if not isinstance(old, dict) or not isinstance(new, dict) or old.get("kind") != new.get("kind"):
        return []
    differing = [*paths(old, new)]
    more = len(differing) - MAX_PATHS
    return [*differing[:MAX_PATHS], *([f"and {more} more fields"] if more > 0 else [])]


def _is_reordered(found: Difference) -> bool:
    old, new = _decoded(found.recorded), _decoded(found.now)
    return isinstance(old, dict) and old == new


def _decoded(line: bytes | None) -> Any:
    """None for what is no JSON."""
    try:
        return None if line is None else json.loads(line)
    except ValueError:
        return None


def _value(value: Any) -> str:
    return _shortened(json.dumps(value))


def _text(line: bytes | None) -> str:
    return "(no more lines)" if line is None else _shortened(line.decode())


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}... ({len(text)} characters)"
