"""Values from the environment, by type. A wrong one ends the process with one line, wherever it was started.

Every value that is asked for is noted in KNOWN: a test holds docs/SETTINGS.md against it.
"""

import os
import re
from pathlib import Path

KNOWN: dict[str, str] = {}
"""Name of each setting -> its default, as the documentation shows it."""


def given(name: str) -> bool:
    """Whether the setting has a value; an empty one is none."""
    return bool(os.environ.get(name))


def text(name: str, default: str) -> str:
    KNOWN[name] = default
    return os.environ.get(name) or default


def words(name: str, default: str) -> list[str]:
    """Words with commas between them."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def number(name: str, default: int, least: int, most: int) -> int:
    value = text(name, str(default))
    if not re.fullmatch(r"[0-9]{1,9}", value) or not least <= int(value) <= most:
        refuse(name, f"a number from {least} to {most}")
    return int(value)


def matching(name: str, default: str, pattern: str, what: str) -> str:
    """A text of a certain form; ``what`` says in words which."""
    value = text(name, default)
    if not re.fullmatch(pattern, value):
        refuse(name, what)
    return value


def directory(name: str, default: Path, shown: str) -> Path:
    """An absolute path. ``shown`` stands for the default in the documentation, where it depends on the
    machine."""
    value = Path(text(name, str(default))).expanduser()
    KNOWN[name] = shown
    if not value.is_absolute():
        refuse(name, "an absolute path")
    return value


def refuse(name: str, wanted: str) -> None:
    raise SystemExit(f"schedviz: {name} must be {wanted}, not {os.environ.get(name, '')!r}")
