"""Leases (pkg/registry/coordination/lease/strategy.go, and ValidateLeaseSpec in
pkg/apis/coordination/validation/validation.go)."""

from typing import Final

from simulator.apiserver.field_changes import dropping
from simulator.apiserver.printers.column import AGE, NAME, Column, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.shapes import all_of, field, in_range, not_negative
from simulator.apiserver.strategy import Strategy

LEASE_STRATEGY: Final = Strategy(
    resource=built_in("coordination.k8s.io/v1", "Lease"),
    drop_disabled_fields=dropping(CoordinatedLeaderElection=["spec.strategy", "spec.preferredHolder"]),
    set_defaults=lambda manifest: manifest.setdefault("spec", {}),
    any_finalizer=True,
    validate=all_of(
        field("spec.leaseDurationSeconds", in_range(1, detail="must be greater than 0")),
        not_negative("spec.leaseTransitions"),
    ),
    needs_version=True,
    is_created_by_update=True,
    update_order="US",
    printer=printer_of(NAME, Column("Holder", "LeaseSpec.holderIdentity"), AGE),
)
