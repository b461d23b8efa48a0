"""The notations of a manifest's parts in one text field."""

from typing import Any

import pytest

from schedviz.web.forms.notation import (
    LABEL_SELECTOR,
    NODE_AFFINITY,
    POD_AFFINITY,
    TAINTS,
    TOLERATIONS,
    TOPOLOGY_SPREAD,
    Notation,
    shown,
)


@pytest.mark.parametrize(
    ("notation", "text", "value"),
    [
        (TAINTS, "a=b:NoSchedule, c:NoExecute", None),
        (TOLERATIONS, "a=b:NoSchedule, c:NoExecute for 300s, d=e, f", None),
        (LABEL_SELECTOR, "app=web, gen>3, !old, tier in (a, b)", None),
        (NODE_AFFINITY, "disk in (nvme, ssd), !spot\n10: zone=a", None),
        (POD_AFFINITY, "app=web @ kubernetes.io/hostname\n5: app=db @ zone", None),
        (TOPOLOGY_SPREAD, "2 ScheduleAnyway: app=web @ zone", None),
        (TOLERATIONS, "a=b", [{"key": "a", "value": "b"}]),
    ],
)
def test_a_notation_says_what_it_reads(notation: Notation, text: str, value: Any) -> None:
    assert shown(notation, notation.read(text) if value is None else value) == text


@pytest.mark.parametrize(
    ("notation", "value"),
    [
        (LABEL_SELECTOR, {}),
        (TOLERATIONS, [{"operator": "Exists"}]),
        (
            NODE_AFFINITY,
            {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": []}]}},
        ),
        (
            POD_AFFINITY,
            {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a", "namespaces": ["x"]}]},
        ),
        (TAINTS, "nonsense"),
    ],
)
def test_a_notation_omits_what_it_cannot_express(notation: Notation, value: Any) -> None:
    assert shown(notation, value) is None
