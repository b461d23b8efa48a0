"""The ResourceQuota admission plugin: what a request creates or enlarges is charged to the quotas of its
namespace, and refused if one of them would be exceeded.

Upstream: apiserver/pkg/admission/plugin/resourcequota/controller.go (CheckRequest). What counts is the
status of a quota, which the resource quota controller sets: a quota without a status limits nothing. Upstream
walks the quotas in the order of a cache; here it is that of their names.
"""

from collections.abc import Iterable

from simulator.api import Change, Manifest, Micros
from simulator.apiserver.amounts import Amounts
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.quota.evaluator import QUOTAS, Evaluator
from simulator.apiserver.quota.pods import evaluator_of
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import Forbidden
from simulator.objects.metadata import key_of, name_of, namespace_of
from simulator.objects.status import status_of, with_status


class QuotaCharges:
    """The charges of one request to quotas."""

    def __init__(self, overlay: Overlay, now: Micros) -> None:
        self._overlay = overlay
        self._now = now
        self._charged: dict[str, Manifest] = {}
        """The quotas with a new status, by key."""

    def charge(
        self, resource: Resource, new: Manifest, old: Manifest | None = None, subresource: str = ""
    ) -> None:
        """Charge an object that is created, or the amounts by which it becomes more than ``old``. Raises
        Forbidden."""
        evaluator = evaluator_of(resource)
        if evaluator is None or (old is not None and subresource not in evaluator.updates):
            return
        quotas = [quota for quota in self._quotas(namespace_of(new)) if evaluator.matches(quota, new)]
        if not quotas:
            return
        for quota in quotas:
            self._check_usable(evaluator, resource, quota, new)
        usage = evaluator.usage(new, self._now)
        before = None if old is None else evaluator.usage(old, self._now)
        for quota in quotas:
            counted = before is not None and old is not None and evaluator.matches(quota, old)
            more = usage.increase_since(before) if counted and before is not None else usage
            self._charge(resource, quota, new, more.not_zero(), may_exceed=subresource == "status")

    def changes(self) -> list[Change]:
        """Return the updates of the quotas' statuses."""
        return [
            Change(QUOTAS, key, quota, int(quota["metadata"].get("resourceVersion", 0)) or None)
            for key, quota in self._charged.items()
        ]

    def _quotas(self, namespace: str) -> Iterable[Manifest]:
        for quota in sorted(self._overlay.list(QUOTAS, namespace), key=name_of):
            yield self._charged.get(key_of(quota), quota)

    @staticmethod
    def _check_usable(evaluator: Evaluator, resource: Resource, quota: Manifest, new: Manifest) -> None:
        """Raise Forbidden if the object lacks what the quota needs, or what is used is not known yet."""
        status, name = status_of(quota), new["metadata"].get("name", "")
        restricted = evaluator.matching(status["hard"])
        missing = evaluator.missing(new, restricted)
        if missing:
            raise Forbidden(resource.id, name, f"failed quota: {name_of(quota)}: {missing}")
        if any(each not in (status.get("used") or {}) for each in restricted):
            detail = f"status unknown for quota: {name_of(quota)}, resources: {','.join(restricted)}"
            raise Forbidden(resource.id, name, detail)

    def _charge(
        self, resource: Resource, quota: Manifest, new: Manifest, more: Amounts, *, may_exceed: bool
    ) -> None:
        hard, used = (Amounts.of(status_of(quota).get(field)) for field in ("hard", "used"))
        requested = more.only(hard.amounts)
        after = used.plus(requested)
        exceeded = {
            name for name in requested.amounts if after.amounts[name] > hard.amounts[name] and not may_exceed
        }
        if exceeded:
            requested, used, hard = (each.only(exceeded) for each in (requested, used, hard))
            detail = (
                f"exceeded quota: {name_of(quota)}, requested: {requested}, used: {used}, limited: {hard}"
            )
            raise Forbidden(resource.id, new["metadata"].get("name", ""), detail)
        if requested.amounts:
            self._charged[key_of(quota)] = with_status(quota, used=after.texts())
