"""Three-way merge, for an object that another client changed while a form had it open."""

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from schedviz.web.manifests.paths import Path, written

GONE: Final = object()
SHOWN_AT_MOST: Final = 160
"""Maximum number of characters of a value in a Difference; the YAML has the whole value."""


class Difference(msgspec.Struct, frozen=True):
    """A change of the other client. before, after: JSON; "" = no value. kept: the user changed the same
    field, and the user's value is kept."""

    field: str
    before: str
    after: str
    kept: bool


def merged(base: Any, own: Any, theirs: Any) -> Any:
    """Merge the changes from ``base`` to ``own`` and to ``theirs``; ``own`` wins if both changed the same
    field. Lists are not merged."""
    if own == base:
        return theirs
    if theirs == base or not (isinstance(own, dict) and isinstance(theirs, dict)):
        return own
    known = base if isinstance(base, dict) else {}
    found = {
        key: merged(known.get(key, GONE), own.get(key, GONE), theirs.get(key, GONE))
        for key in [*own, *(key for key in theirs if key not in own)]
    }
    return {key: value for key, value in found.items() if value is not GONE}


def differences(base: Any, own: Any, theirs: Any, path: Path = ()) -> Iterator[Difference]:
    """Yield the changes from ``base`` to ``theirs``."""
    if theirs == base:
        return
    if isinstance(base, dict) and isinstance(theirs, dict):
        for key in [*base, *(key for key in theirs if key not in base)]:
            inside = own.get(key, GONE) if isinstance(own, dict) else GONE
            yield from differences(base.get(key, GONE), inside, theirs.get(key, GONE), (*path, key))
    else:
        kept = own not in (base, theirs)
        yield Difference(written(path), _json(base), _json(theirs), kept)


def _json(value: Any) -> str:
    if value is GONE:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_AT_MOST else text[:SHOWN_AT_MOST] + "…"
