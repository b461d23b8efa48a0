"""The stylesheet and the script of each page, and of which files each is made.

``make assets`` bundles and compresses them and puts them into ``static/made/``. Where static/ was changed
since, pages load the sources one by one until it runs again.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from schedviz.static_version import static_directory, static_version

HTMX: Final = "django_htmx/htmx-2.min.js"
WEBSOCKETS: Final = "django_htmx/ext/hx-ws-2.min.js"
LIBRARIES: Final = (HTMX, WEBSOCKETS)

SOURCES: Final[Mapping[str, tuple[str, ...]]] = {
    "schedviz.css": ("css/schedviz.css",),
    "handout.css": ("css/handout.css",),
    "report.css": ("css/report.css",),
    "sandbox.js": (HTMX, WEBSOCKETS, "js/sandbox.js"),
    "room.js": (HTMX, WEBSOCKETS, "js/room.js"),
    "page.js": ("js/page.js",),
    "htmx.js": (HTMX,),
    "handout.js": ("js/handout.js",),
}
"""File -> what it is made of, in this order, with what these import. All are paths as in static URLs."""

MADE: Final = "made"
"""The folder of the made files, in static/."""
SOURCES_VERSION: Final = "sources.txt"
"""The file in it that says of which version of the sources the others are made."""


def sources_version(static: Path) -> str:
    """Return the version of all that the files are made of."""
    files = static_version([static / "css", static / "js", static_directory("django_htmx")])
    return sha256(f"{files} {SOURCES}".encode()).hexdigest()


def are_made(static: Path) -> bool:
    """Whether the made files are those of the sources as they are now."""
    noted = static / MADE / SOURCES_VERSION
    return noted.is_file() and noted.read_text().strip() == sources_version(static)
