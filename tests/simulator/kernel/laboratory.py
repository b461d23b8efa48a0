"""An environment without a cluster. The test sets the responses to writes."""

from collections.abc import Callable, Sequence

from simulator.kernel.clock import Micros
from simulator.kernel.containment import Actor
from simulator.kernel.environment import Environment, Turn
from simulator.kernel.requests import Outcome, Steps, Write

ACTOR = Actor("Scheduler", "pods", "default/p")


class Laboratory(Environment):
    def __init__(self, answers: Sequence[Outcome | Exception | None] = ()) -> None:
        """``answers`` are those to the writes, in order; None = the answer comes later."""
        super().__init__()
        self.answers = [*answers]
        self.written: list[object] = []
        self.finish: list[Callable[[Outcome], object]] = []
        self.reported: list[str] = []
        self.postponed: list[tuple[int, Micros]] = []

    def report(self, actor: Actor, fault: Exception) -> None:
        self.reported.append(f"{actor}: {fault}")

    def report_postponed(self, actor: Actor, runs: int, until: Micros) -> None:
        self.postponed.append((runs, until))

    def write(self, write: Write, finish: Callable[[Outcome], object]) -> Outcome | None:
        self.written.append(write.change)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            self.finish.append(finish)
        return answer

    def begin(self, steps: Steps[None], turn: Turn = Turn.BINDING) -> None:
        self.process(turn, ACTOR, steps).start()

    def run(self, until: Micros = 1_000) -> None:
        """Do all that is due by then, without stopping at points."""
        while (due := self.agenda.due()) is not None and due <= until:
            process = self.step()
            while process is not None:
                process = process.resume()
