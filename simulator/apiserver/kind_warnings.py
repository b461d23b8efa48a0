"""Warnings about single kinds (WarningsOnCreate of the strategies in pkg/registry, v1.34): deprecated labels
of nodes, names that are no DNS labels, and what a headless Service ignores."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.pod_warnings import term_warnings


def _volume(manifest: Manifest) -> Iterator[str]:
    terms = (manifest["spec"].get("nodeAffinity") or {}).get("required", {}).get("nodeSelectorTerms", ())
    for index, term in enumerate(terms):
        yield from term_warnings(term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]")


KIND_WARNINGS: Final[dict[str, Callable[[Manifest], Iterator[str]]]] = {
    "persistentvolumes": _volume,
}
