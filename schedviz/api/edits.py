"""Applies the edits of a what-if suggestion to a sandbox, through :mod:`schedviz.api.write`."""

from collections.abc import Sequence

from schedviz.api import removal, write
from schedviz.store import Sandbox
from simulator.api import bare
from simulator.what_if.edit import Edit


def apply_edits(sandbox: Sandbox, edits: Sequence[Edit], *, ignore_versions: bool = False) -> None:
    """Apply the edits in order. Raises StatusError: Conflict for an object that was changed after the edits
    were computed, unless ``ignore_versions``."""
    for edit in edits:
        if edit.manifest is None:
            removal.delete(sandbox, edit.resource, edit.key)
        elif edit.verb == "update":
            manifest = bare(edit.manifest) if ignore_versions else edit.manifest
            write.replace(sandbox, edit.resource, edit.key, manifest)
        elif edit.verb == "recreate":
            removal.recreate(sandbox, edit.resource, edit.key, edit.manifest)
        else:
            write.create(sandbox, [edit.manifest], namespace=edit.key.rpartition("/")[0] or "default")
