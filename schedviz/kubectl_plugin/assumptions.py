"""What an answer about a real cluster assumes, and what was not known."""

from collections.abc import Iterator

import msgspec

from simulator.verdicts.judged_scheduler import minor_of
from simulator.versions.features import Features


class Assumptions(msgspec.Struct):
    context: str
    server: str
    version: str
    """What the API server says of itself, or the version of the option ``--kubernetes``."""
    judged_as: str
    """The version by whose rules it is judged."""
    configuration: str
    """Where the scheduler's configuration is from."""
    gates: str
    """The feature gates that are not at their default, and where they are from."""
    unknown: list[str] = []
    """What could not be read, and what is unknown thereby."""
    kubelets: dict[str, int] = {}
    """The minor versions of the kubelets, each with the number of nodes."""
    left_out: list[str] = []
    """Objects that are left out, with the reasons."""

    def lines(self) -> Iterator[str]:
        yield f"Read once from {self.server} (context {self.context}); nothing was written."
        yield from self.of_scheduler()
        yield from (f"Not read: {each}." for each in self.unknown)
        yield from (f"Left out: {each}" for each in self.left_out)

    def of_scheduler(self) -> Iterator[str]:
        """Yield what is assumed of the scheduler, and the versions of the kubelets if they are others."""
        judged = f"Assumed: the scheduler {self.version}"
        if minor_of(self.version) != minor_of(self.judged_as):
            judged += f", which is judged by the nearest version that is modelled, {self.judged_as}"
        yield f"{judged}; {self.configuration}; {self.gates}."
        skewed = [
            f"{name} ({count})" for name, count in self.kubelets.items() if name != minor_of(self.version)
        ]
        if skewed:
            yield f"Kubelets of other versions, with the number of nodes: {', '.join(skewed)}."


def name_gates(features: Features, *, given: bool, reached: bool, served: bool) -> str:
    """Return the gates in words. given: by the option; reached: by the scheduler's metrics; served: the API
    server has the kind of a gate."""
    if served:
        return f"the feature gates {features.gates_text}, as the API server has PodGroups"
    if given and features.gates_text:
        return f"the feature gates {features.gates_text}"
    if reached:
        return f"the feature gates of its metrics ({features.gates_text or 'all at their default'})"
    return "its default feature gates"
