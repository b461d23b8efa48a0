"""The conditions of an object, with what they mean."""

import msgspec

from schedviz.web.reasons import meanings
from schedviz.web.reasons import messages as reasons
from simulator.api import Manifest
from simulator.objects.conditions import conditions_of


class ConditionView(msgspec.Struct, frozen=True):
    type: str
    status: str
    reason: str
    message: str
    meaning: str


def conditions(manifest: Manifest) -> list[ConditionView]:
    return [present_condition(item) for item in conditions_of(manifest)]


def present_condition(item: Manifest) -> ConditionView:
    kind, status, reason, message = (item.get(field, "") for field in ("type", "status", "reason", "message"))
    meaning = reasons.unplaced(message) or meanings.condition_meaning(kind, status, reason)
    return ConditionView(kind, status, reason, message, meaning)
