"""Watch a Kubernetes scheduler work in a simulated cluster, live in the browser.

For programs: ``with schedviz.sandbox(scenario="gang") as s: ...`` (docs/PYTHON.md).
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedviz.client import play as play
    from schedviz.client import sandbox as sandbox

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Imported when it is used: no process of the server needs it.
    if name in ("play", "sandbox"):
        from schedviz import client  # noqa: PLC0415 (as above)

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
