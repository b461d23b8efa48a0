"""Manifests as text, in the order in which people write them."""

from collections.abc import Sequence

import yaml

from simulator.api import Manifest


def to_yaml(manifests: Sequence[Manifest]) -> str:
    """One document each."""
    return "---\n".join(
        yaml.dump(manifest, Dumper=Plain, sort_keys=False, allow_unicode=True, default_flow_style=False)
        for manifest in manifests
    )


class Plain(yaml.SafeDumper):
    """Without anchors: equal parts are written out, as kubectl does."""

    def ignore_aliases(self, data: object) -> bool:
        return True
