"""Finds all faults of manifests at once. The API server looks for some only when there are no others: types,
then what admission refuses, then values. So it is asked again without the fields that it has refused."""

import copy
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from schedviz.field_positions import path_beginnings
from schedviz.web.forms.error_paths import path_in_manifest
from simulator.api import Manifest
from simulator.apiserver.status import Cause, StatusError

ROUNDS: Final = 5
"""Maximum number of questions. The API server looks for faults in four steps."""
KEPT: Final = ("apiVersion", "kind", "metadata")
"""Fields without which nothing else can be checked."""


class Fault(NamedTuple):
    """A refused field. ``document``: the index of its manifest."""

    document: int
    cause: Cause


def find_all_faults(
    manifests: Sequence[Manifest],
    check: Callable[[list[Manifest]], object],
    before: Sequence[Manifest] = (),
) -> list[Fault]:
    """Return all faults of the manifests. check: a dry run, which raises StatusError. before: the stored
    objects, if this is an edit: a refused field gets its stored value, otherwise it is removed."""
    left = copy.deepcopy([*manifests])
    found: list[Fault] = []
    for _ in range(ROUNDS):
        try:
            check(left)
        except StatusError as error:
            new = [fault for fault in faults_of(error) if not _follows(fault, found)]
            found += new
            removed = [
                _restore(left[fault.document], fault.cause.field, before[fault.document : fault.document + 1])
                for fault in new
                if fault.document < len(left)
            ]
            if not any(removed):
                break
        else:
            break
    return found


def faults_of(error: StatusError) -> list[Fault]:
    """Return the faults that one refusal names; the refusal itself, if it names no field."""
    causes = error.causes or (Cause("", error.message, error.reason),)
    return [Fault(error.document, cause) for cause in dict.fromkeys(causes)]


def _follows(fault: Fault, found: Sequence[Fault]) -> bool:
    """Whether a fault may be there only because a field was removed before: it is about this field, misses
    it, or is about the whole object, which has another name by now."""
    field = fault.cause.field
    earlier = [each.cause.field for each in found if each.document == fault.document]
    if not field:
        return any(each.startswith("metadata") or not each for each in earlier)
    above = fault.cause.reason == "FieldValueRequired"
    return any(
        each == field or field.startswith(_parts(each)) or (above and each.startswith(_parts(field)))
        for each in earlier
    )


def _parts(field: str) -> tuple[str, str]:
    """Return the beginnings of the paths of what a field contains."""
    return f"{field}.", f"{field}["


def _restore(manifest: Manifest, field: str, before: Sequence[Manifest]) -> bool:
    """Set a field to its stored value, or remove it. An item of a list is removed with the list, as the
    others would get its number. Return whether something changed."""
    field = path_in_manifest(field)
    if not field or field in KEPT:
        return False
    place = _find(manifest, field)
    if place is None:
        return False
    parent, key = place
    stored = _find(before[0], field) if before else None
    if stored is not None:
        parent[key] = copy.deepcopy(stored[0][stored[1]])
    else:
        del parent[key]
    return True


def _find(manifest: Manifest, field: str) -> tuple[dict[str, Any], str] | None:
    """Return the mapping and the key of a path: of a path into a list of plain values, those of the list."""
    place: tuple[dict[str, Any], str] | None = None
    node: Any = manifest
    while field:
        if isinstance(node, list):
            number, _, field = field.removeprefix("[").partition("]")
            if not number.isdecimal() or int(number) >= len(node):
                return place
            node = node[int(number)]
            continue
        name = next(
            (each for each in path_beginnings(field.removeprefix(".")) if _key(node, each) is not None), None
        )
        if name is None:
            return None
        key = str(_key(node, name))
        place, node = (node, key), node[key]
        field = field.removeprefix(".")[len(name) :]
    return place


def _key(node: Any, name: str) -> str | None:
    """Return the key of a mapping for the beginning of a path: ``labels`` or ``[app]``."""
    key = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    return key if isinstance(node, dict) and key in node else None
