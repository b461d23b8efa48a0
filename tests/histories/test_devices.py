"""What holds of devices in every random history, after each operation."""

from collections import Counter
from random import Random

import pytest

from simulator.api import Manifest
from tests.amounts import sample
from tests.histories.random_history import DEVICE_CLAIMS, LAST_SECONDS, OPERATIONS, History
from tests.histories.themes import THEMES

SEEDS = range(100, 112)
"""Beyond those whose output is recorded."""


def allocated(claims: dict[str, Manifest]) -> Counter[tuple[str, str, str]]:
    """How many claims have each device."""
    return Counter(
        (result["driver"], result["pool"], result["device"])
        for claim in claims.values()
        for result in ((claim.get("status") or {}).get("allocation") or {"devices": {}})["devices"].get(
            "results", ()
        )
    )


def consumers(claim: Manifest) -> list[Manifest]:
    found: list[Manifest] = (claim.get("status") or {}).get("reservedFor") or []
    return found


def check(history: History) -> None:
    claims = history.cluster.objects(DEVICE_CLAIMS)
    twice = [device for device, times in allocated(claims).items() if times > 1]
    assert not twice, f"allocated to several claims: {twice}"
    for key, claim in claims.items():
        assert not consumers(claim) or claim["status"].get("allocation"), f"{key} is used without devices"


@pytest.mark.sampled
@pytest.mark.parametrize("seed", sample(SEEDS))
def test_no_device_is_allocated_twice_and_ended_pods_release_theirs(seed: int) -> None:
    history = History(THEMES["devices"], seed, Random(f"devices/{seed}"))
    for _ in range(OPERATIONS):
        history.go_on()
        check(history)
    history.cluster.run(LAST_SECONDS)
    check(history)
    pods = history.cluster.objects("pods")
    for key in [*pods]:
        history.cluster.delete("pods", key)
    history.cluster.observe()
    history.cluster.run(LAST_SECONDS)
    left = history.cluster.objects(DEVICE_CLAIMS).values()
    assert not any(consumers(claim) for claim in left)
    assert not any(claim["metadata"].get("generateName") for claim in left), "claims of pods that are gone"
