"""Updates of pods compare long lists in time that grows with the list, in C, too."""

from typing import Any

import pytest

from simulator.apiserver.kinds.pods.update_validation import validate_pod_update
from tests.apiserver.cluster import pod

ENTRIES = 200
_compared: list[str] = []


class Counted(str):
    """A text that counts its comparisons."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        _compared.append(self)
        return str.__eq__(self, other)


def pod_with(field: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    made = pod("a")
    made["spec"][field] = entries
    return made


@pytest.mark.parametrize(
    ("field", "name", "others"),
    [("tolerations", "key", {"operator": "Exists"}), ("schedulingGates", "name", {})],
)
def test_what_a_pod_keeps_is_found_in_linear_time(field: str, name: str, others: dict[str, str]) -> None:
    old, new = (
        pod_with(field, [{name: Counted(f"key-{number}"), **others} for number in range(ENTRIES)])
        for _ in range(2)
    )
    new["spec"][field].reverse()
    _compared.clear()
    assert not [*validate_pod_update(new, old)]
    assert len(_compared) < 10 * ENTRIES
