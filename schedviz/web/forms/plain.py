"""The form for kinds that have no fields; it shows only the YAML."""

from typing import Any

from schedviz.web.forms.base import ManifestForm
from simulator.api import Manifest


class PlainForm(ManifestForm):
    def show(self, manifest: Manifest) -> dict[str, str]:
        return {}

    def only_in_yaml(self, manifest: Manifest) -> int:
        return 0

    def field_of(self, path: str) -> Any:
        return None
