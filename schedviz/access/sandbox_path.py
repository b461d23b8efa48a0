"""The sandbox to which the path of a URL belongs."""

import re
from typing import Final

from schedviz.store.store import NAME

_PATH: Final = re.compile(
    rf"/(?:s/(?P<page>{NAME.pattern})/|api/sandboxes/(?P<api>{NAME.pattern})(?:/|\Z))(?P<rest>.*)", re.DOTALL
)


def sandbox_of_path(path: str) -> str:
    """Return the name of the sandbox; "" for other paths, and for what cannot be a name: it could be as long
    as a path. Whether the sandbox exists is not checked."""
    found = _PATH.fullmatch(path)
    return (found["page"] or found["api"]) if found else ""


def path_below_sandbox(path: str) -> str:
    """Return the part of a URL's path after the name of the sandbox."""
    found = _PATH.fullmatch(path)
    return found["rest"] if found else path.lstrip("/")
