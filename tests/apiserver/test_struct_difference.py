"""The differences of structs in refusals."""

import cProfile
import pstats

from simulator.apiserver.go_structs import struct_difference
from simulator.apiserver.shown_values import STRUCT_LENGTH


def calls_for(lines: int) -> int:
    profile = cProfile.Profile()
    old, new = (
        [{"Weight": number % 100, "Key": f"{name}-{number}"} for number in range(lines)] for name in "ab"
    )
    written = profile.runcall(struct_difference, old, new)
    assert len(written) <= STRUCT_LENGTH + len("...")
    return int(pstats.Stats(profile).total_calls)


def test_the_work_for_large_structs_grows_no_faster_than_they() -> None:
    assert calls_for(8_000) < 2.3 * calls_for(4_000)


def test_a_change_far_below_in_a_large_struct_is_shown_with_its_lines() -> None:
    old = [f"item-{number}" for number in range(5_000)]
    new = [*old[:4_000], "other", *old[4_001:]]
    assert struct_difference(old, new) == (
        "@@ -3999,7 +3999,7 @@\n"
        '  "item-3997",\n'
        '  "item-3998",\n'
        '  "item-3999",\n'
        '- "item-4000",\n'
        '+ "other",\n'
        '  "item-4001",\n'
        '  "item-4002",\n'
        '  "item-4003",\n'
    )
