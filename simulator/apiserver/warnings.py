"""Warnings about objects that are accepted (WarningsOnCreate and WarningsOnUpdate of the strategies in
pkg/registry), and about deletions, and how much a response says in its warnings
(apiserver/pkg/endpoints/filters/warning.go)."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.request_options import DeleteOptions
from simulator.apiserver.resource import Resource

MAX_CHARACTERS: Final = 4 * 1024
"""Characters of all warnings of a response, from which on each is cut off (truncateAtTotalRunes)."""
MAX_WARNINGS: Final = 64
"""Warnings of a response. Each is a header, and the clients of Python read 100 at most. kube-apiserver has no
such bound."""
MAX_CUT_OFF: Final = 256
"""Characters of a warning that is cut off (truncateItemRunes)."""


def warnings_of(resource: Resource, manifest: Manifest) -> list[str]:
    """Return the warnings about an object that was created, as far as a response can have them."""
    strategy = strategy_of(resource)
    of_name = _name_warnings(manifest, strategy.name_use) if strategy.name_use else ()
    return first_warnings(chain(of_name, strategy.warnings(manifest, None)))


def warnings_of_update(resource: Resource, new: Manifest, old: Manifest, subresource: str) -> list[str]:
    """Return the warnings about an update."""
    return [] if subresource else first_warnings(strategy_of(resource).warnings(new, old))


def warnings_of_deletion(resource: Resource, options: DeleteOptions) -> list[str]:
    """Return the warning about a deletion that does not say what becomes of the dependents (Delete in
    pkg/registry/batch/job/storage/storage.go)."""
    warning = strategy_of(resource).orphaning_warning
    return [warning] if warning and options.propagation is None else []


def _name_warnings(manifest: Manifest, use: str) -> Iterator[str]:
    """Yield the warning about a name that is no DNS label, of a new object that makes pods."""
    problems = names.dns_label(manifest["metadata"].get("name", ""))
    if problems:
        yield (
            f"metadata.name: {use}, which can result in surprising behavior; "
            f"a DNS label is recommended: [{' '.join(problems)}]"
        )


def first_warnings(warnings: Iterable[str]) -> list[str]:
    """Return the warnings that a response can have, without repeated ones. Those behind them are not
    computed: a thousand ports may have a million."""
    found: dict[str, None] = {}
    written = 0
    for warning in warnings:
        if not is_written(warning) or warning in found:
            continue
        found[warning] = None
        written += len(warning[:MAX_CUT_OFF])
        if written > MAX_CHARACTERS or len(found) == MAX_WARNINGS:
            break
    return [*found]


def is_written(warning: str) -> bool:
    """Whether a response may have the warning: one with control characters is left out (NewWarningHeader in
    apimachinery/pkg/util/net/http.go)."""
    return bool(warning) and warning.isprintable()
