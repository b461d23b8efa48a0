"""``metadata.generation``: the number of the object's desired state, which grows when this is changed.

Which kinds have one, and what counts as a change, is in the strategy of each kind: most often the spec, never
the status. Other kinds keep what was sent at creation."""

from simulator.api import Manifest
from simulator.apiserver.strategy import Strategy
from simulator.objects.metadata import GENERATION


def set_first_generation(strategy: Strategy, manifest: Manifest) -> None:
    if strategy.desired_state and strategy.begins_with_generation:
        manifest["metadata"][GENERATION] = 1


def set_next_generation(strategy: Strategy, old: Manifest, new: Manifest, *, counts: bool = True) -> None:
    """Set the generation of an updated object: the old one, or the next if what counts has changed.
    ``counts`` is False for an update of the status."""
    metadata = new["metadata"]
    metadata.pop(GENERATION, None)
    before = old["metadata"].get(GENERATION)
    if before is not None:
        metadata[GENERATION] = before
    desired = strategy.desired_state
    if counts and desired and desired(old) != desired(new):
        metadata[GENERATION] = (before or 0) + 1
