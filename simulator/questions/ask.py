"""The questions by name: what each is asked with, and how it is answered."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from simulator.questions.add_nodes import AddAnswer, AddNodes, AddParameters
from simulator.questions.answer import AskedCluster, AskedQuestion
from simulator.questions.drain import Drain, DrainAnswer, DrainParameters
from simulator.questions.evictions import EvictionsAnswer
from simulator.questions.fits import Fits, FitsAnswer, FitsParameters
from simulator.questions.how_many_more import HowManyMore, MoreAnswer, MoreParameters
from simulator.questions.lost_owners import with_owners
from simulator.questions.removable import Removable, RemovableAnswer, RemovableParameters
from simulator.questions.several_seeds import SeveralSeeds

AnyAnswer = FitsAnswer | MoreAnswer | DrainAnswer | RemovableAnswer | AddAnswer | EvictionsAnswer
AnyParameters = FitsParameters | MoreParameters | DrainParameters | RemovableParameters | AddParameters


KINDS: Final[Mapping[type[Any], Callable[[AskedCluster, Any], AskedQuestion[AnyAnswer]]]] = {
    FitsParameters: Fits,
    MoreParameters: HowManyMore,
    DrainParameters: Drain,
    RemovableParameters: Removable,
    AddParameters: AddNodes,
}


def begin(cluster: AskedCluster, parameters: AnyParameters, seeds: int = 1) -> AskedQuestion[AnyAnswer]:
    """Return the question, which is answered when it is run. seeds: how many are tried, from that of the
    cluster on. Raises BadQuestion, ConfigError; when it is run, also StatusError."""
    whole = with_owners(cluster)
    return SeveralSeeds(whole, lambda each: KINDS[type(parameters)](each, parameters), seeds)
