"""The decisions of a recording that another scheduler would have made otherwise."""

import logging
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from simulator.compare.answer import Comparison
from simulator.compare.changed_decisions import SchedulerSettings
from simulator.compare.outside_comparison import OutsideComparison
from simulator.compare.second_scheduler import SecondScheduler
from simulator.recording import Record
from simulator.replay import RecordingError, Replay
from simulator.simulation import Options, Simulation

log = logging.getLogger(__name__)


class PlayedHistory:
    """A comparison of a recording with the model, and then the replay of the recording, in which each attempt
    of its scheduler is decided again. :meth:`run` may be stopped at any time."""

    def __init__(
        self, comparison: OutsideComparison, records: Iterable[Record], second: SecondScheduler
    ) -> None:
        self._comparison = comparison
        self._records = records
        self._second = second
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
        found = self._second.result()
        decided = replace(found, complete=found.complete and self._whole) if found.decided else None
        return replace(self._comparison.result(), decided_again=decided)

    def _begin(self, simulation: Simulation, options: Options) -> None:
        self._second.begin(simulation, SchedulerSettings(options.config, options.features()))
