"""Rules for updates, as tables of kinds list them: what may not change.

A field is named by its path below the object (:mod:`simulator.apiserver.shapes`).
"""

from collections.abc import Callable, Iterator

from simulator.api import Manifest
from simulator.apiserver.field_checks import IMMUTABLE
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.shapes import value_at
from simulator.apiserver.status import NIL, Cause, forbidden, invalid

UpdateRule = Callable[[Manifest, Manifest], Iterator[Cause]]
"""A rule for an update: (new, old) -> faults."""


def immutable(
    *paths: str,
    detail: str = IMMUTABLE,
    forbids: bool = False,
    shown: str = "",
    go_type: str = "",
    declared: bool = False,
) -> UpdateRule:
    """None of the fields changes. ``forbids``: a change is forbidden, and not invalid; ``{}`` in the detail
    stands for the path. ``shown``: the path in faults, where upstream writes another one. ``go_type``: the
    type of a pointer to a struct, as which the value is shown. ``declared``: the rule is a marker of
    the API's types (validate.Immutable), whose faults do not show the value."""

    def check(new: Manifest, old: Manifest) -> Iterator[Cause]:
        for path in paths:
            value = value_at(new, path)
            if value == value_at(old, path):
                continue
            if forbids:
                yield forbidden(path, detail.format(path))
            elif declared:
                yield invalid(path, None, detail)
            else:
                struct = api_struct(go_type, value) if go_type and value is not None else value
                yield invalid(shown or path, NIL if struct is None else struct, detail, whole=bool(go_type))

    return check


def immutable_struct(path: str, go_type: str) -> UpdateRule:
    """A struct does not change; a fault shows it as Go does."""

    def check(new: Manifest, old: Manifest) -> Iterator[Cause]:
        after, before = (value_at(each, path) or {} for each in (new, old))
        if after != before:
            yield invalid(path, api_struct(go_type, after), IMMUTABLE, whole=True)

    return check


def all_of_update(*rules: UpdateRule) -> UpdateRule:
    """Apply the rules for changes one after the other."""

    def check(new: Manifest, old: Manifest) -> Iterator[Cause]:
        for rule in rules:
            yield from rule(new, old)

    return check
