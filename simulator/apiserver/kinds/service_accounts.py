"""ServiceAccounts (pkg/registry/core/serviceaccount/strategy.go)."""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver.printers.column import AGE, NAME, SHORT_PRINTER, Column, count, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.strategy import Strategy


def _keep_names_of_secrets(manifest: Manifest) -> None:
    """Keep of references to Secrets the names only (cleanSecretReferences)."""
    if manifest.get("secrets"):
        manifest["secrets"] = [{k: v for k, v in each.items() if k == "name"} for each in manifest["secrets"]]


SERVICE_ACCOUNT_STRATEGY: Final = Strategy(
    resource=built_in("v1", "ServiceAccount", "sa"),
    set_defaults=_keep_names_of_secrets,
    update_order="UM",
    is_shown_when_deleted=True,
    printer=SHORT_PRINTER,
    older_printer=printer_of(NAME, Column("Secrets", "ServiceAccount.secrets", show=count), AGE),
)
