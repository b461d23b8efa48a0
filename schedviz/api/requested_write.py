"""Creates and edits one object as a request asks for it: by its field manager, as a dry run, and with its
warnings."""

from django.http import HttpRequest

from schedviz.api import body, write
from schedviz.api.target import Target
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver.resource import Resource


def create_requested(
    request: HttpRequest,
    sandbox: Sandbox,
    target: Target,
    manifest: Manifest,
    *,
    warnings: list[str],
    dry_run: bool,
) -> Manifest:
    """Create an object. Raises StatusError."""
    (created,) = write.create(
        sandbox,
        [manifest],
        namespace=target.namespace or "default",
        dry_run=dry_run,
        entry="api",
        manager=body.field_manager(request),
        warnings=warnings,
    )
    return created


def edit_requested(
    request: HttpRequest,
    sandbox: Sandbox,
    resource: Resource,
    target: Target,
    change: write.Edit,
    *,
    warnings: list[str],
    dry_run: bool,
) -> Manifest:
    """Change the object or the subresource of the target. Raises StatusError."""
    return write.edit(
        sandbox,
        resource,
        target.key(resource),
        change,
        subresource=target.subresource,
        dry_run=dry_run,
        manager=body.field_manager(request),
        warnings=warnings,
    )
