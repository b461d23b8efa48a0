"""Somebody else changed an object while a form had it open: what they changed, and both changes as one."""

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from schedviz.web.forms.places import Path, written

GONE: Final = object()
SHOWN_AT_MOST: Final = 160
"""Letters of a value; the whole stands in the YAML."""


class Difference(msgspec.Struct, frozen=True):
    """``before`` and ``after`` are JSON, empty for nothing. ``kept``: the reader changed the same and keeps
    his own."""

    field: str
    before: str
    after: str
    kept: bool


def merged(base: Any, mine: Any, theirs: Any) -> Any:
    """Their changes of ``base`` and mine; where both changed the same, mine. A list is one thing."""
    if mine == base:
        return theirs
    if theirs == base or not (isinstance(mine, dict) and isinstance(theirs, dict)):
        return mine
    known = base if isinstance(base, dict) else {}
    found = {
        key: merged(known.get(key, GONE), mine.get(key, GONE), theirs.get(key, GONE))
        for key in [*mine, *(key for key in theirs if key not in mine)]
    }
    return {key: value for key, value in found.items() if value is not GONE}


def differences(base: Any, mine: Any, theirs: Any, path: Path = ()) -> Iterator[Difference]:
    """What they changed."""
    if theirs == base:
        return
    if isinstance(base, dict) and isinstance(theirs, dict):
        for key in [*base, *(key for key in theirs if key not in base)]:
            inside = mine.get(key, GONE) if isinstance(mine, dict) else GONE
            yield from differences(base.get(key, GONE), inside, theirs.get(key, GONE), (*path, key))
    else:
        kept = mine not in (base, theirs)
        yield Difference(written(path), _json(base), _json(theirs), kept)


def _json(value: Any) -> str:
    if value is GONE:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_AT_MOST else text[:SHOWN_AT_MOST] + "…"
