"""Reads settings from environment variables, by type. A wrong value ends the process with a message of one
line.

Every setting that is read is recorded in KNOWN; a test compares docs/SETTINGS.md with it.
"""

import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

NEAR: Final = 0.85
"""The likeness of a misspelled name with the right one, as difflib has it."""
LONG_ENOUGH: Final = 6
"""Shorter names that differ by one letter are other programs' variables."""

KNOWN: dict[str, str] = {}
"""Name of each setting -> its default, as the documentation shows it."""


def given(name: str) -> bool:
    """Whether the variable is set and not empty."""
    return bool(os.environ.get(name))


def text(name: str, default: str) -> str:
    KNOWN[name] = default
    return os.environ.get(name) or default


def secret(name: str, default: str = "", *, least: int = 0) -> str:
    """Read a secret, which is never printed. The variable NAME_FILE may name a file that contains it
    instead. least: the number of characters of one that cannot be guessed."""
    value = _read_secret(name, default)
    if value and len(value) < least:
        raise SystemExit(
            f"schedviz: {name} has {len(value)} characters and can be guessed: set {least} random characters "
            "or more"
        )
    return value


def _read_secret(name: str, default: str) -> str:
    KNOWN[name], KNOWN[f"{name}_FILE"] = default, ""
    value, path = os.environ.get(name, ""), os.environ.get(f"{name}_FILE", "")
    if not path:
        return value or default
    if value:
        raise SystemExit(f"schedviz: {name} and {name}_FILE must not both be set")
    try:
        # A file mostly ends with a line break.
        return Path(path).expanduser().read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"schedviz: {name}_FILE cannot be read: {error}") from None


def secret_given(name: str) -> bool:
    """Whether the secret is set, by itself or by a file."""
    return given(name) or given(f"{name}_FILE")


def pass_secret(name: str, value: str) -> None:
    """Set the secret for the processes that this one starts."""
    os.environ[name] = value
    os.environ.pop(f"{name}_FILE", None)


def header(name: str) -> str:
    """Read the name of a request header, and return it as Django's ``request.META`` has it; "" = none."""
    value = text(name, "")
    if not re.fullmatch(r"[A-Za-z0-9-]*", value):
        refuse(name, "the name of a header such as X-Forwarded-Proto")
    return f"HTTP_{value.upper().replace('-', '_')}" if value else ""


def comma_separated(name: str, default: str, shown: str = "") -> list[str]:
    """Read words. shown: the default as the documentation shows it, "" = the words."""
    value = text(name, default)
    KNOWN[name] = shown or KNOWN[name]
    return [word.strip() for word in value.split(",") if word.strip()]


def origins(name: str) -> list[str]:
    """Read origins: a scheme and a host each, as ``https://schedviz.example.com``."""
    found = comma_separated(name, "")
    if not all(urlsplit(origin).scheme in ("http", "https") and urlsplit(origin).netloc for origin in found):
        refuse(name, "origins such as https://schedviz.example.com")
    return found


def number(name: str, default: int, least: int, most: int, shown: str = "") -> int:
    """Read a whole number. shown: the default as the documentation shows it, "" = the number."""
    value = text(name, str(default))
    KNOWN[name] = shown or KNOWN[name]
    if not re.fullmatch(r"[0-9]{1,9}", value) or not least <= int(value) <= most:
        refuse(name, f"a number from {least} to {most}")
    return int(value)


def switch(name: str) -> bool:
    """Read a switch: 1 = on; 0, the default, = off."""
    return number(name, 0, 0, 1) == 1


def choice(name: str, default: str, allowed: tuple[str, ...], shown: str) -> str:
    """Read one of several words. ``shown``: the default as the documentation shows it."""
    value = text(name, default)
    KNOWN[name] = shown
    if value not in allowed:
        refuse(name, " or ".join(allowed))
    return value


def directory(name: str, default: Path, shown: str) -> Path:
    """Read an absolute path. ``shown``: the default as the documentation shows it, as it depends on the
    machine."""
    value = Path(text(name, str(default))).expanduser()
    KNOWN[name] = shown
    if not value.is_absolute():
        refuse(name, "an absolute path")
    return value


def optional_directory(name: str) -> Path | None:
    """Read the absolute path of a directory that exists; None = the variable is not set."""
    KNOWN[name] = ""
    if not given(name):
        return None
    value = Path(os.environ[name]).expanduser()
    if not value.is_absolute() or not value.is_dir():
        refuse(name, "the absolute path of a directory")
    return value


def refuse_misspelled() -> None:
    """End the process if a variable that is no setting has nearly the name of one. All settings must have
    been read before."""
    for name in sorted(os.environ.keys() - KNOWN.keys()):
        near = get_close_matches(name, KNOWN, n=1, cutoff=NEAR)
        if near and len(name) >= LONG_ENOUGH and given(name):
            raise SystemExit(f"schedviz: there is no setting {name}: {near[0]} is one (docs/SETTINGS.md)")


def refuse(name: str, wanted: str) -> None:
    raise SystemExit(f"schedviz: {name} must be {wanted}, not {os.environ.get(name, '')!r}")
