"""The options of a past leader: of the scheduler, and the version of Kubernetes with its feature gates."""

from collections.abc import Iterator

from msgspec.structs import replace

from schedviz.store.history import History
from schedviz.store.model import Meta
from simulator.recording import Entry


def with_options_at(meta: Meta, history: History, entry: int) -> Meta:
    """Return ``meta`` with the options of the leader that wrote journal entry ``entry``; unchanged if the
    archive no longer has its election."""
    began = next(elections(history, entry), None)
    if began is None or began.began is None:
        return meta
    options = began.began.options
    return replace(
        meta,
        seed=options.seed,
        pace=options.pace,
        config=options.config,
        queue=options.queue,
        kubernetes=options.kubernetes,
        feature_gates=options.feature_gates,
        stands_down=bool(options.stands_down),
    )


def elections(history: History, entry: int) -> Iterator[Entry]:
    """Yield the journal entries, up to number ``entry``, with which leaders began; the latest first."""
    for place in reversed(range(len(history.chapters))):
        if history.chapters[place].began.entry < entry:
            yield from reversed(history.elections(place, entry))
