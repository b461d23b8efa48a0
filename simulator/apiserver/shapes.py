"""Rules for the shape of objects, as tables of kinds list them: what must be there, and what it may be.

A rule is a function of a value and its path that returns the faults. The functions here make rules, once,
when a table is read. A field is named by its path below the value to which the rule is applied
(``spec.replicas``); the whole object has no path. A field that is missing has no fault, unless the rule says
that it must be there. A list that is missing has no elements.
"""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import methodcaller
from typing import Any

from simulator.api import Manifest
from simulator.apiserver.field_checks import NOT_NEGATIVE, NameRule, check_choice, check_name, too_many
from simulator.apiserver.repeated import repeats
from simulator.apiserver.served_features import served_version
from simulator.apiserver.status import (
    MAX_CAUSES,
    Cause,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)

PartRule = Callable[[Any, str], Iterable[Cause]]
"""A rule for a part of an object: (value, path) -> faults."""


def value_at(manifest: Manifest, path: str) -> Any:
    """Return the value at a path; None if there is none."""
    found: Any = manifest
    for field in path.split("."):
        found = found.get(field) if isinstance(found, dict) else None
    return found


def _below(name: str) -> str:
    """Return what a path gets for a field, whose name may be left out. The path of a whole object is empty,
    and gets no dot."""
    return f".{name}" if name else ""


def join_path(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


class Rule:
    """A rule for an object or a part of it. ``steps``: the checks of which it consists, each with the field
    without which it finds nothing ("" = none), so that it need not be called."""

    def __init__(self, *steps: tuple[str, PartRule]) -> None:
        self.steps = steps
        self.check = steps[0][1] if len(steps) == 1 else _apply(steps)

    def __call__(self, value: Any, path: str = "", /) -> Iterable[Cause]:
        return self.check(value, path)


def _apply(steps: Sequence[tuple[str, PartRule]]) -> PartRule:
    """Return what applies the checks one after the other. It takes as many faults of each as an answer may
    have."""

    def check(value: Any, path: str) -> Iterable[Cause]:
        found: list[Cause] = []
        for name, step in steps:
            if name and name not in value:
                continue
            if faults := step(value, path):
                found += islice(faults, MAX_CAUSES + 1)
        return found

    return check


def _of_field(name: str, check: PartRule) -> Rule:
    return Rule((name.partition(".")[0], check))


def _getter(path: str) -> Callable[[Any], Any]:
    """Return what :func:`value_at` does for this path."""
    return methodcaller("get", path) if "." not in path else lambda value: value_at(value, path)


def all_of(*rules: PartRule) -> Rule:
    """Apply the rules one after the other."""
    return Rule(
        *(step for rule in rules for step in (rule.steps if isinstance(rule, Rule) else [("", rule)]))
    )


def when(applies: Callable[[Any], object], *rules: PartRule) -> Rule:
    """Apply the rules to what the function is true for."""
    rule = all_of(*rules).check
    return Rule(("", lambda value, path: rule(value, path) if applies(value) else ()))


def has(name: str, *values: Any) -> Callable[[Any], bool]:
    """Return whether a field of an object has one of these values."""
    get = _getter(name)
    return lambda value: get(value) in values


def has_field(name: str) -> Callable[[Any], bool]:
    """Return whether an object has a field, which may be empty."""
    get = _getter(name)
    return lambda value: get(value) is not None


# Fields of an object


def field(name: str, *rules: PartRule, default: Any = None, shown: str | None = None) -> Rule:
    """Apply the rules to a field that is there, or has a default. ``shown``: its name in paths, where
    upstream writes another one; "" where it writes none."""
    get, rule = _getter(name), all_of(*rules).check
    below = _below(name if shown is None else shown)

    def check(value: Any, path: str) -> Iterable[Cause]:
        found = get(value)
        if found is None:
            if default is None:
                return ()
            found = default
        return rule(found, path + below if path else below[1:])

    return Rule(("", check)) if default is not None else _of_field(name, check)


def filled(name: str, *rules: PartRule, shown: str | None = None) -> Rule:
    """Apply the rules to a field that is not empty. ``shown``: as of :func:`field`."""
    get, rule, below = _getter(name), all_of(*rules).check, _below(name if shown is None else shown)

    def check(value: Any, path: str) -> Iterable[Cause]:
        found = get(value)
        return rule(found, path + below if path else below[1:]) if found else ()

    return _of_field(name, check)


def needed(name: str, *rules: PartRule, detail: str = "") -> Rule:
    """The field must be there, and not be empty; then the rules apply. A struct may be empty: it is a pointer
    of Go, and empty maps are not stored."""
    get, rule, below = _getter(name), all_of(*rules).check, _below(name)

    def check(value: Any, path: str) -> Iterable[Cause]:
        found, at = get(value), path + below if path else name
        return rule(found, at) if found or found == {} else (required(at, detail),)

    return Rule(("", check))


def must_have(*names: str, detail: str = "") -> Rule:
    """Each of the fields must be there, and not be empty."""
    return all_of(*(needed(name, detail=detail) for name in names))


def must_exist(*names: str, detail: str = "") -> Rule:
    """Each of the fields must be there; it may be empty."""

    def check(value: Any, path: str) -> Iterable[Cause]:
        return [required(join_path(path, name), detail) for name in names if value.get(name) is None]

    return Rule(("", check))


def may_not_have(*names: str, detail: str, even_empty: bool = False) -> Rule:
    """None of the fields may be set. ``even_empty``: they are pointers of Go, which are set if they point to
    what is empty."""

    def check(value: Any, path: str) -> Iterable[Cause]:
        given = [name for name in names if (name in value if even_empty else value.get(name))]
        return [forbidden(join_path(path, name), detail) for name in given]

    return Rule(("", check))


def not_negative(*names: str) -> Rule:
    """None of the numbers is negative (ValidateNonnegativeField)."""
    getters = [(name, _getter(name)) for name in names]

    def check(value: Any, path: str) -> Iterable[Cause]:
        found = [(name, get(value) or 0) for name, get in getters]
        return [invalid(join_path(path, name), number, NOT_NEGATIVE) for name, number in found if number < 0]

    return Rule(("", check))


def each(
    name: str,
    *rules: PartRule,
    unique: str = "",
    duplicate_at: str | None = None,
    indexed: bool = True,
    shown: str | None = None,
) -> Rule:
    """Apply the rules to the elements of a list. ``unique``: the field that no two of them may have in
    common; its fault comes after those of the rules, at ``duplicate_at`` below the element, or at the field.
    ``indexed``: whether paths have the index of the element; upstream leaves it out in some places.
    ``shown``: as of :func:`field`."""
    get, rule = _getter(name), all_of(*rules).check
    below = _below(name if shown is None else shown)
    behind = _below(unique if duplicate_at is None else duplicate_at)

    def check(value: Any, path: str) -> Iterable[Cause]:
        path = path + below if path else below[1:]
        found: list[Cause] = []
        seen: set[Any] = set()
        for index, element in enumerate(get(value) or ()):
            at = f"{path}[{index}]" if indexed else path
            if faults := rule(element, at):
                found += islice(faults, MAX_CAUSES + 1)
            if unique:
                key = element[unique]
                if key in seen:
                    found.append(duplicate(at + behind, key))
                seen.add(key)
            if len(found) > MAX_CAUSES:
                break
        return found

    return _of_field(name, check)


def union(
    members: Mapping[str, PartRule],
    *,
    none: str,
    several: str,
    may_follow: Collection[str] = (),
    second_names: Mapping[str, str] | None = None,
) -> Rule:
    """One of the fields must be there (``none``: what to say if not), and only one (``several``). The rule of
    a field, which is applied to the whole object, counts for the first one only, and for those that may
    follow it. ``second_names``: the names in paths of fields that follow another one, where upstream writes
    others."""
    shown = second_names or {}
    checks = {name: all_of(rule).check for name, rule in members.items()}

    def check(value: Any, path: str) -> Iterator[Cause]:
        given = [name for name in value if name in members]
        if not given:
            yield required(path, none)
        elif len(given) > 1:
            given = [name for name in members if name in given]
        for number, name in enumerate(given):
            if number and name not in may_follow:
                yield forbidden(join_path(path, shown.get(name, name)), several)
            else:
                yield from checks[name](value, path)

    return Rule(("", check))


# Lists


def items(*rules: PartRule, most: int | None = None, unique: str | None = None) -> PartRule:
    """Apply the rules to the elements of a list; then it has at most so many (validateSlice), and then no two
    are equal: in a field, or as a whole if its name is empty (validateSet). Where validation is declarative,
    nothing else is said of a list that is too long, and an equal element is named, not its field."""
    rule = all_of(*rules).check

    def check(found: Sequence[Any], path: str) -> Iterator[Cause]:
        is_declarative = served_version().validates_declaratively
        if is_declarative and most is not None and len(found) > most:
            yield too_many(path, len(found), most)
            return
        for index, element in enumerate(found):
            yield from rule(element, f"{path}[{index}]")
        if most is not None and len(found) > most:
            yield too_many(path, len(found), most)
        if unique is not None:
            values = [element.get(unique, "") if unique else element for element in found]
            for index, (value, is_repeated) in enumerate(zip(values, repeats(values), strict=True)):
                if is_repeated:
                    below = "" if is_declarative else _below(unique)
                    yield duplicate(f"{path}[{index}]{below}", value)

    return check


# Values


def where(is_right: Callable[[Any], object], detail: str) -> PartRule:
    """Values for which the function is false are invalid."""
    return lambda value, path: () if is_right(value) else (invalid(path, value, detail),)


def wrong(detail: str) -> PartRule:
    """Every value is invalid: for fields that others rule out."""
    return lambda value, path: (invalid(path, value, detail),)


def in_range(least: int, most: int | None = None, *, detail: str = "") -> PartRule:
    """A number is between two others, both inclusive."""
    detail = detail or f"must be between {least} and {most}, inclusive"
    most = sys.maxsize if most is None else most
    return lambda value, path: () if least <= value <= most else (invalid(path, value, detail),)


def matches(pattern: str, detail: str) -> PartRule:
    """The whole of a text matches a regular expression."""
    return where(re.compile(pattern).fullmatch, detail)


def at_most(count: int, what: str) -> PartRule:
    return where(lambda value: len(value) <= count, f"must not have more than {count} {what}")


def max_bytes(most: int) -> PartRule:
    """A text has no more bytes."""
    return lambda value, path: () if len(value.encode()) <= most else (too_long(path, most),)


def one_of(choices: Collection[str], *, as_given: bool = False) -> PartRule:
    return lambda value, path: (
        () if value in choices else (not_supported(path, value, choices, as_given=as_given),)
    )


def choice(choices: Collection[str], *, detail: str = "", as_given: bool = False) -> PartRule:
    """As :func:`one_of`, but an empty value is a missing one. ``detail``: what is said of one."""
    return lambda value, path: check_choice(value, choices, path, detail=detail, as_given=as_given)


def named_by(rule: NameRule) -> PartRule:
    """A name follows a rule of :mod:`simulator.apiserver.names`."""
    return lambda value, path: check_name(rule, value, path)
