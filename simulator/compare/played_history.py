"""The decisions of a recording that another version would have made otherwise."""

import logging
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from simulator.compare.answer import Comparison
from simulator.compare.outside_comparison import OutsideComparison
from simulator.compare.version_decisions import RunVersions
from simulator.recording import Record
from simulator.replay import RecordingError, Replay
from simulator.simulation import Options, Simulation
from simulator.versions.features import Features

log = logging.getLogger(__name__)


class PlayedHistory:
    """A comparison of a recording with the model, and then the replay of the recording, in which each attempt
    of its scheduler is decided again. :meth:`run` may be stopped at any time."""

    def __init__(self, comparison: OutsideComparison, records: Iterable[Record], after: Features) -> None:
        self._comparison = comparison
        self._records = records
        self._versions = RunVersions(after)
        self._whole = False

    def run(self) -> Iterator[float]:
        """Run in parts, and yield after each how much is done; of the replay this is not known before its
        end."""
        for done in self._comparison.run():
            yield done / 2
        try:
            for _ in Replay(self._records, self._begin).run():
                yield 0.5
            self._whole = True
        except RecordingError as fault:  # that of a sandbox with extenders, for instance
            log.info("the attempts of a recording are not decided again: %s", fault)
        yield 1.0

    def result(self) -> Comparison:
        found = self._versions.result()
        versions = replace(found, complete=found.complete and self._whole)
        return replace(self._comparison.result(), versions=versions if versions.decided else None)

    def _begin(self, simulation: Simulation, options: Options) -> None:
        self._versions.begin(simulation, options.config, options.features())
