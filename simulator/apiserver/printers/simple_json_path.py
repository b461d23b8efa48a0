"""JSON paths as printer columns have them: ``.spec.size``, ``.items[0]``, ``.items[*].name``,
``.labels['a/b']``, ``.status.conditions[?(@.type=="Ready")].status``.

Upstream: k8s.io/client-go/util/jsonpath (parser.go, jsonpath.go), v0.34. Recursive descent and unions lead to
nothing here.
Looked at jsonpath-ng: its syntax is another one, and it allows what costs time.
"""

import operator
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from simulator.kernel.work import spend_work

_STEP: Final = re.compile(
    r"""\.(?P<field>(?:\\.|[^.,\[\]$@{}\s\\])+)
    | \['(?P<key>[^']*)'\]
    | \[(?P<all>\*)\]
    | \[(?P<index>-?\d+)\]
    | \[(?P<start>-?\d*):(?P<end>-?\d*)(?::(?P<stride>\d*))?\]
    | \[\?\((?P<filter>[^()]*)\)\]""",
    re.VERBOSE,
)
_COMPARED: Final = re.compile(r"@(?P<left>[^!<>=]*)(?P<operator>==|!=|<=|>=|<|>)(?P<right>.+)", re.DOTALL)
_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WORK_OF_FILTER: Final = 4
"""The work of comparing an item of a list."""
_QUOTED: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")


class PathError(ValueError):
    """The error of a path that is not supported here, or that leads to nothing."""


def value_at_path(value: Any, path: str) -> Any:
    """Return the first value at a path. Each value on the way is work. Raises PathError, OutOfWork."""
    text = path.removeprefix("{").removesuffix("}")
    found = next(_values(value, text if text.startswith((".", "[")) else f".{text}"), None)
    if found is None:
        raise PathError(path)
    return found[0]


def _values(value: Any, path: str) -> Iterator[tuple[Any]]:
    """Yield the values at a path, each in a tuple. Raises PathError."""
    values, place = [value], 0
    while place < len(path):
        step = _STEP.match(path, place)
        if step is None:
            raise PathError(path)
        spend_work(1 + 2 * len(values))
        values = [item for each in values for item in _next(each, step)]
        place = step.end()
    yield from ((each,) for each in values)


def _next(value: Any, step: re.Match[str]) -> list[Any]:
    """Return the values to which one step leads; none where there is nothing."""
    if value is None:
        return []
    name = step["key"] if step["field"] is None else step["field"].replace("\\", "")
    if step["all"] or step["field"] == "*":
        return [*value.values()] if isinstance(value, dict) else _listed(value)
    if name is not None:
        return [value[name]] if isinstance(value, dict) and name in value else []
    if step["filter"] is not None:
        listed = _listed(value)
        spend_work(_WORK_OF_FILTER * len(listed))
        return [item for item in listed if _passes(item, step["filter"])]
    return _part(_listed(value), step)


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise PathError("not a list")
    return value


def _part(items: list[Any], step: re.Match[str]) -> list[Any]:
    """Return the item of an index, or the items of a range. Raises PathError outside of the list."""
    size = len(items)
    if step["index"] is not None:
        start = int(step["index"])
        start += size if start < 0 else 0
        end, stride = start + 1, 1
    else:
        start, end = int(step["start"] or 0), int(step["end"] or size)
        start += size if start < 0 else 0
        end += size if end < 0 else 0
        stride = int(step["stride"] or 1)
    if (start != end and not 0 <= start < end <= size) or stride < 1:
        raise PathError("outside of the list")
    return items[start:end:stride]


def _passes(item: Any, condition: str) -> bool:
    """Whether an item of a list passes a filter. Raises PathError if it cannot be compared."""
    compared = _COMPARED.fullmatch(condition.strip())
    if compared is None:
        if not condition.strip().startswith("@"):
            raise PathError(condition)
        return any(True for _ in _values(item, condition.strip()[1:]))
    lefts, right = [*_values(item, compared["left"].rstrip())], _literal(compared["right"].strip())
    if not lefts:
        return False
    left = lefts[0][0]
    # Texts, numbers and booleans are compared only with their like, whole numbers not with others.
    if len(lefts) > 1 or type(left) is not type(right):
        raise PathError(condition)
    return _OPERATORS[compared["operator"]](left, right)


def _literal(text: str) -> Any:
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        return quoted[1] if quoted[2] is None else quoted[2]
    if text in ("true", "false"):
        return text == "true"
    if not _NUMBER.fullmatch(text):
        raise PathError(text)
    return float(text) if "." in text else int(text)
