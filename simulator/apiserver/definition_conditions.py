"""The conditions of a CustomResourceDefinition.

Upstream: SetCRDCondition in apiextensions-apiserver/pkg/apihelpers/helpers.go, v1.34.
"""

from typing import NamedTuple

from simulator.api import Manifest


class Condition(NamedTuple):
    type: str
    status: str
    reason: str
    message: str


def with_condition(status: Manifest, condition: Condition, now: str) -> Manifest:
    """Return the status of a definition with this condition. A condition keeps its time while its status
    stays."""
    conditions = [*(status.get("conditions") or ())]
    known = {each["type"]: index for index, each in enumerate(conditions)}
    index = known.get(condition.type)
    before = {} if index is None else conditions[index]
    stays = before.get("status") == condition.status
    written = {
        "type": condition.type,
        "status": condition.status,
        "lastTransitionTime": before.get("lastTransitionTime") if stays else now,
        "reason": condition.reason,
        "message": condition.message,
    }
    if index is None:
        conditions.append(written)
    else:
        conditions[index] = written
    return {**status, "conditions": conditions}


def has_condition(definition: Manifest, kind: str, status: str) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(each["type"] == kind and each["status"] == status for each in conditions)
