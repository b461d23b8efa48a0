"""Rules for the shape of objects, as kinds list them in their strategies: what must be there, what it may be,
and what may not change.

Each function here returns a rule: a function of an object (or of a part of it with its path) that yields the
faults. A field is named by its path below the object: ``spec.replicas``. A field that is missing has no
fault, unless the rule says that it must be there.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any

from simulator.api import Manifest
from simulator.apiserver.field_checks import IMMUTABLE, NOT_NEGATIVE, NameRule, check_name
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.status import NIL, Cause, forbidden, invalid, not_supported, required

Rule = Callable[[Manifest], Iterator[Cause]]
UpdateRule = Callable[[Manifest, Manifest], Iterator[Cause]]
PartRule = Callable[[Any, str], Iterator[Cause]]
"""A rule for a part of an object: (value, path) -> faults."""


def value_at(manifest: Manifest, path: str) -> Any:
    """Return the value at a path; None if there is none."""
    found: Any = manifest
    for field in path.split("."):
        found = found.get(field) if isinstance(found, dict) else None
    return found


def all_of(*rules: Rule) -> Rule:
    """Apply the rules one after the other."""

    def check(manifest: Manifest) -> Iterator[Cause]:
        for rule in rules:
            yield from rule(manifest)

    return check


def field(path: str, *rules: PartRule, default: Any = None) -> Rule:
    """Apply the rules to a field that is there, or has a default."""

    def check(manifest: Manifest) -> Iterator[Cause]:
        found = value_at(manifest, path)
        value = default if found is None else found
        if value is not None:
            for rule in rules:
                yield from rule(value, path)

    return check


def each(path: str, *rules: PartRule) -> Rule:
    """Apply the rules to the elements of a list."""

    def check(manifest: Manifest) -> Iterator[Cause]:
        for index, value in enumerate(value_at(manifest, path) or ()):
            for rule in rules:
                yield from rule(value, f"{path}[{index}]")

    return check


def must_have(*paths: str, detail: str = "") -> Rule:
    """Each of the fields must be there, and not be empty."""

    def check(manifest: Manifest) -> Iterator[Cause]:
        return (required(path, detail) for path in paths if not value_at(manifest, path))

    return check


def not_negative(*paths: str) -> Rule:
    """None of the numbers is negative (ValidateNonnegativeField)."""

    def check(manifest: Manifest) -> Iterator[Cause]:
        for path in paths:
            number = value_at(manifest, path)
            if number is not None and number < 0:
                yield invalid(path, number, NOT_NEGATIVE)

    return check


def one_of(choices: Collection[str], *, as_given: bool = False) -> PartRule:
    def check(value: Any, path: str) -> Iterator[Cause]:
        if value not in choices:
            yield not_supported(path, value, choices, as_given=as_given)

    return check


def named_by(rule: NameRule) -> PartRule:
    """A name follows a rule of :mod:`simulator.apiserver.names`."""
    return lambda value, path: check_name(rule, value, path)


def immutable(*paths: str, detail: str = IMMUTABLE, forbids: bool = False) -> UpdateRule:
    """None of the fields changes. ``forbids``: a change is forbidden, and not invalid; ``{}`` in the detail
    stands for the path."""

    def check(new: Manifest, old: Manifest) -> Iterator[Cause]:
        for path in paths:
            value = value_at(new, path)
            if value == value_at(old, path):
                continue
            if forbids:
                yield forbidden(path, detail.format(path))
            else:
                yield invalid(path, NIL if value is None else value, detail)

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
