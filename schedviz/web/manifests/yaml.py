"""Manifests as YAML, with the fields in their usual order."""

from collections.abc import Sequence

import yaml

from simulator.api import Manifest
from simulator.apiserver.managed_fields.managers import without_managed_fields


def to_yaml(manifests: Sequence[Manifest]) -> str:
    """Return the manifests as YAML documents, without managedFields, as kubectl shows them."""
    return "---\n".join(
        yaml.dump(
            without_managed_fields(manifest),
            Dumper=Plain,
            sort_keys=False,
            allow_unicode=True,
            default_flow_style=False,
        )
        for manifest in manifests
    )


class Plain(yaml.CSafeDumper):
    """A dumper without anchors and aliases, as kubectl."""

    def ignore_aliases(self, data: object) -> bool:
        return True
