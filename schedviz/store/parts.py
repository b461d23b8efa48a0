"""Divides changes into parts, each for one commit, so that no commit blocks Redis for long."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from schedviz.store import codec
from schedviz.store.sandbox import Sandbox
from simulator.api import Change
from simulator.kernel.parts import in_parts

CHANGES_AT_ONCE: Final = 500
"""Changes of one part: they block Redis for about 10 ms."""


def parts_of(
    changes: Iterable[Change], sandbox: Sandbox | None = None, at_most: int = CHANGES_AT_ONCE
) -> Iterator[list[Change]]:
    """Yield the changes in parts of at most ``at_most`` changes, and of a bounded size. sandbox: that of
    objects that are deleted, whose size counts, too; None = none is. Raises LimitReached."""
    remaining = iter(changes)
    while batch := [*islice(remaining, at_most)]:
        sized = zip(batch, _sizes(batch, sandbox), strict=True)
        for part in in_parts(sized, lambda each: each[1]):
            yield [change for change, _ in part]


def _sizes(changes: Sequence[Change], sandbox: Sandbox | None) -> list[int]:
    """Return how many bytes each change adds to the log; one round trip if objects are deleted."""
    deleted = [(change.resource, change.key) for change in changes if not change.object]
    stored = iter(sandbox.sizes(deleted) if sandbox and deleted else [0] * len(deleted))
    return [len(codec.object_json(each.object)) if each.object else next(stored) for each in changes]
