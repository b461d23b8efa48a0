"""Fills in what a story's request takes from earlier answers, and from the story's own id.

``{{id}}`` is the id; ``{{N/pointer}}`` is what the answer of step N has at that JSON pointer; a body
``{"$from": N, "$set": {pointer: value}, "$remove": [pointers]}`` is the answer of step N, changed."""

import copy
import json
import re
from collections.abc import Sequence
from typing import Any

_TEMPLATE = re.compile(r"\{\{(id|\d+/[^{}]*)\}\}")


class Gone(Exception):
    """An earlier answer lacks what the request needs."""


def fill(value: Any, ident: str, answers: Sequence[Any]) -> Any:
    """Return the value with all that it takes from the id and from earlier answers. Raises Gone."""
    if isinstance(value, str):
        return _TEMPLATE.sub(lambda found: _written(found.group(1), ident, answers), value)
    if isinstance(value, list):
        return [fill(each, ident, answers) for each in value]
    if isinstance(value, dict) and "$from" in value:
        return _changed(value, ident, answers)
    if isinstance(value, dict):
        return {fill(key, ident, answers): fill(each, ident, answers) for key, each in value.items()}
    return value


def at(document: Any, pointer: str) -> Any:
    """Return what a document has at a JSON pointer. A part ``key=value`` chooses from a list, by a field or
    by a field of the metadata. Raises LookupError, TypeError or ValueError."""
    for part in _parts(pointer):
        if isinstance(document, list) and "=" in part:
            key, wanted = part.split("=", 1)
            found = [
                each for each in document if wanted in (each.get(key), each.get("metadata", {}).get(key))
            ]
            document = found[0]
        else:
            document = document[int(part) if isinstance(document, list) else part]
    return document


def _parts(pointer: str) -> list[str]:
    return [
        part.replace("~1", "/").replace("~0", "~") for part in pointer.removeprefix("/").split("/") if pointer
    ]


def _written(what: str, ident: str, answers: Sequence[Any]) -> str:
    if what == "id":
        return ident
    number, _, pointer = what.partition("/")
    try:
        found = at(answers[int(number)], pointer)
    except (LookupError, TypeError, ValueError):
        raise Gone(f"answer {number} has no /{pointer}") from None
    return found if isinstance(found, str) else json.dumps(found)


def _changed(value: dict[str, Any], ident: str, answers: Sequence[Any]) -> Any:
    try:
        document = copy.deepcopy(answers[value["$from"]])
        for pointer in value.get("$remove", ()):
            parent, last = _parent(document, pointer)
            del parent[last]
        for pointer, new in value.get("$set", {}).items():
            parent, last = _parent(document, pointer)
            filled = fill(new, ident, answers)
            if last == "-":
                parent.append(filled)
            else:
                parent[last] = filled
    except (LookupError, TypeError, ValueError, AttributeError):
        raise Gone(f"answer {value['$from']} has not what the request changes") from None
    return document


def _parent(document: Any, pointer: str) -> tuple[Any, Any]:
    """The object or list that a pointer's last part belongs to, and this part. Missing objects are made."""
    *parents, last = _parts(pointer)
    for part in parents:
        document = document[int(part)] if isinstance(document, list) else document.setdefault(part, {})
    return document, int(last) if isinstance(document, list) and last != "-" else last
