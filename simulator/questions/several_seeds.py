"""A question asked with several seeds: nodes of equal score are drawn, and may change the answer."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from msgspec.structs import replace

from simulator import question_words as words
from simulator.questions.answer import Answer, AskedCluster, AskedQuestion, BadQuestion, FigureRange, Sentence

SEEDS_AT_MOST = 20

A = TypeVar("A", bound=Answer)


class SeveralSeeds(Generic[A]):
    """An :class:`simulator.questions.answer.AskedQuestion`. The answer is that of the first seed, with the
    range of the figure."""

    def __init__(
        self, cluster: AskedCluster, ask: Callable[[AskedCluster], AskedQuestion[A]], seeds: int
    ) -> None:
        """Raises BadQuestion, and what ``ask`` raises."""
        if not 1 <= seeds <= SEEDS_AT_MOST:
            raise BadQuestion(f"seeds: from 1 to {SEEDS_AT_MOST}")
        self._cluster, self._ask, self._seeds = cluster, ask, seeds
        self._first = ask(cluster)
        self._figures: list[int] = []

    def run(self) -> Iterator[float]:
        for number in range(self._seeds):
            asked = (
                self._first
                if not number
                else self._ask(replace(self._cluster, seed=self._cluster.seed + number))
            )
            for done in asked.run():
                if done < 1.0:
                    yield (number + done) / self._seeds
            self._figures.append(asked.answer().figure)
        yield 1.0

    def answer(self) -> A:
        found = self._first.answer()
        if self._seeds == 1:
            return found
        if len(self._figures) < 2:
            return replace(found, complete=False)
        range_ = FigureRange(len(self._figures), min(self._figures), max(self._figures))
        values = {"seeds": str(range_.seeds), "least": str(range_.least), "most": str(range_.most)}
        said = Sentence(words.WITH_SEEDS, values)
        complete = len(self._figures) == self._seeds
        return replace(found, range=range_, complete=complete, summary=[*found.summary, said])
