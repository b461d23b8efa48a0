"""The names of a CustomResourceDefinition that no other one of its group has, and the conditions about them.

Upstream: naming_controller.go and establishing_controller.go in
apiextensions-apiserver/pkg/controller.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.kinds.definitions.conditions import (
    Condition,
    approval_condition,
    has_condition,
    with_condition,
)
from simulator.kernel.go_text import quote

_RESOURCES: Final = ("plural", "singular", "shortNames")
_KINDS: Final = ("kind", "listKind")
_REASONS: Final = {
    "plural": "PluralConflict",
    "singular": "SingularConflict",
    "shortNames": "ShortNamesConflict",
    "kind": "KindConflict",
    "listKind": "ListKindConflict",
}
_ACCEPTED: Final = Condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
_ESTABLISHED: Final = Condition(
    "Established", "True", "InitialNamesAccepted", "the initial names have been accepted"
)
_NOT_ESTABLISHED: Final = Condition("Established", "False", "NotAccepted", "not all names are accepted")


class UsedNames(NamedTuple):
    """The accepted names of a group."""

    resources: set[str]
    """Plurals, singulars and short names."""
    kinds: set[str]

    @staticmethod
    def of(statuses: Iterable[Manifest]) -> "UsedNames":
        used = UsedNames(set(), set())
        for each in statuses:
            used.add(each)
        return used

    def includes(self, other: "UsedNames") -> bool:
        return self.resources >= other.resources and self.kinds >= other.kinds

    def add(self, status: Manifest) -> None:
        accepted = _accepted(status)
        self.resources.update(name for field in _RESOURCES for name in _listed(accepted, field))
        self.kinds.update(name for field in _KINDS for name in _listed(accepted, field))


def _accepted(status: Manifest) -> Manifest:
    found: Manifest = status.get("acceptedNames") or {}
    return found


def status_with_names(definition: Manifest, used: UsedNames, now: str) -> Manifest:
    """Return the status of a definition after its names are compared with the accepted ones of its group."""
    status = definition.get("status") or {}
    condition = approval_condition(definition)
    if condition is not None:
        status = with_condition(status, condition, now)
    accepted, wanted = _accepted(status), definition["spec"]["names"]
    if accepted == wanted:
        return status
    conflicts = [*_conflicts(wanted, accepted, used)]
    fields = dict.fromkeys((*wanted, *accepted))
    refused = {field for field, _ in conflicts}
    names = {field: (accepted if field in refused else wanted).get(field) for field in fields}
    shown = {field: value for field, value in names.items() if value is not None}
    status = {**status, "acceptedNames": {"plural": "", "kind": "", **shown}}
    if conflicts:
        field, message = conflicts[-1]
        status = with_condition(status, Condition("NamesAccepted", "False", _REASONS[field], message), now)
    else:
        status = with_condition(status, _ACCEPTED, now)
    if has_condition(definition, "Established", "True"):
        return status
    if conflicts and any(each["type"] == "Established" for each in status["conditions"]):
        return status
    return with_condition(status, _NOT_ESTABLISHED if conflicts else _ESTABLISHED, now)


def _conflicts(wanted: Manifest, accepted: Manifest, used: UsedNames) -> Iterator[tuple[str, str]]:
    """Yield the fields whose names are used in the group, with the messages about them."""
    for field in _REASONS:
        taken = used.resources if field in _RESOURCES else used.kinds
        own = {*_listed(accepted, field)}
        refused = [name for name in _listed(wanted, field) if name not in own and name in taken]
        messages = [*dict.fromkeys(f"{quote(name)} is already in use" for name in refused)]
        if messages:
            yield field, messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"


def _listed(names: Manifest, field: str) -> list[str]:
    found = names.get(field) or []
    return [found] if isinstance(found, str) else found
