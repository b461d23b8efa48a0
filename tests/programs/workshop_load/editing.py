"""The forms with which a learner edits an object and the scheduler's configuration, filled in as YAML."""

import copy
import re
from html import unescape
from typing import Final

from schedviz.web.forms.form_and_yaml import parse_document
from schedviz.web.manifests.yaml import to_yaml
from simulator.api import Manifest
from simulator.apiserver.admission import resource_of
from simulator.apiserver.overlay import CreatedObjects
from simulator.apiserver.patches.json_patch import apply_merge_patch
from tests.programs.workshop_load.visitor import Fields

ORIGINAL: Final = re.compile(r'name="original" value="([^"]*)"')


def edit_path(partial: Manifest) -> str:
    """The path of the form of the object of this kind and name, below that of the sandbox. The kind is
    built in."""
    resource = resource_of(partial, CreatedObjects(()))
    metadata = partial["metadata"]
    key = resource.key(metadata.get("namespace", "default"), metadata["name"])
    return f"edit/{resource.id}/{key}/"


def edited(form: bytes, partial: Manifest) -> Fields:
    """The fields of the form after a part of the object was changed (JSON merge patch)."""
    original = _original(form)
    manifest = apply_merge_patch(copy.deepcopy(parse_document(original)), partial)
    return {"original": original, "yaml": to_yaml([manifest])}


def replaced(form: bytes, manifest: Manifest) -> Fields:
    """The fields of the form after all of its YAML was replaced."""
    return {"original": _original(form), "yaml": to_yaml([manifest])}


def _original(form: bytes) -> str:
    found = ORIGINAL.search(form.decode())
    if found is None:
        raise ValueError(f"not a form: {form[:200]!r}")
    return unescape(found[1])
