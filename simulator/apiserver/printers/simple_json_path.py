"""Simple JSON paths, as printer columns have them: ``.spec.size``, ``.items[0]``, ``.labels['a/b']``,
``.status.conditions[?(@.type=="Ready")].status``.

Upstream allows these only (k8s.io/client-go/util/jsonpath, restricted by the validation of definitions).
Looked at jsonpath-ng: its syntax is another one, and it allows what costs time.
"""

import re
from typing import Any, Final

_STEP: Final = re.compile(
    r"""\.(?P<field>[^.\[\]]+)
    | \[(?P<index>\d+)\]
    | \['(?P<key>[^']+)'\]
    | \[\?\(@\.(?P<name>[\w.]+)\s*==\s*["'](?P<wanted>[^"']*)["']\)\]""",
    re.VERBOSE,
)


class PathError(ValueError):
    """The path is none that is known here, or it leads to nothing."""


def value_at_path(value: Any, path: str) -> Any:
    """Return the first value at a path. Raises PathError."""
    text = path.removeprefix("{").removesuffix("}")
    text = text if text.startswith((".", "[")) else f".{text}"
    place = 0
    while place < len(text):
        step = _STEP.match(text, place)
        if step is None:
            raise PathError(path)
        value = _next(value, step, path)
        place = step.end()
    return value


def _next(value: Any, step: re.Match[str], path: str) -> Any:
    name = step["field"] or step["key"]
    if name is not None and isinstance(value, dict) and name in value:
        return value[name]
    if step["index"] is not None and isinstance(value, list) and int(step["index"]) < len(value):
        return value[int(step["index"])]
    if step["name"] is not None and isinstance(value, list):
        for item in value:
            if isinstance(item, dict) and str(item.get(step["name"])) == step["wanted"]:
                return item
    raise PathError(path)
