"""The sandbox to which the path of a URL belongs."""

import re
from typing import Final

from schedviz.store.store import NAME

_PATH: Final = re.compile(rf"/s/({NAME.pattern})/.*", re.DOTALL)


def sandbox_of_path(path: str) -> str:
    """The name of the sandbox; "" for other paths, and for what cannot be a name: it could be as long as a
    path. Whether the sandbox exists is not checked."""
    found = _PATH.fullmatch(path)
    return found[1] if found else ""
