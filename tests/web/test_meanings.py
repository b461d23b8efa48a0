"""Messages of the scheduler, kubelets and controllers have an explanation beside them."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import simulator.plugins
from schedviz.web.reasons import meanings
from schedviz.web.reasons import messages as reasons
from schedviz.web.reasons.plugin_reasons import meaning_of
from simulator.client import event_recorder
from simulator.framework.status import Status
from simulator.preemption.dry_run import NO_VICTIMS, NOT_HELPFUL


def constants() -> Iterator[Status]:
    """The statuses of plugins that are constants, alone or in a tuple."""
    for found in pkgutil.walk_packages(simulator.plugins.__path__, "simulator.plugins."):
        for value in vars(importlib.import_module(found.name)).values():
            yield from (
                each for each in (value if type(value) is tuple else (value,)) if isinstance(each, Status)
            )
    yield from (NOT_HELPFUL, NO_VICTIMS)


def test_every_reason_of_a_plugin_has_a_meaning() -> None:
    said = {reason for status in constants() for reason in status.reasons}
    assert len(said) > 15
    assert {reason for reason in said if not meaning_of(reason)} == set()


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 ...",
            "It is unschedulable: 2 have too little cpu.",
        ),
        (
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: ...",
            "It is unschedulable: The pod's claim must be bound to a volume before any node is evaluated.",
        ),
        (
            '0/3 nodes are available: persistentvolumeclaim "data-pg-0" not found. preemption: ...',
            "It is unschedulable: The PersistentVolumeClaim data-pg-0, which the pod names, does not exist.",
        ),
        (
            '0/3 nodes are available: persistentvolume "a" not found.',
            "It is unschedulable: The PersistentVolume a, to which the pod's claim is bound, does not exist.",
        ),
        (
            '0/3 nodes are available: persistentvolumeclaim "a" is being deleted.',
            "It is unschedulable: The PersistentVolumeClaim a is being deleted.",
        ),
        (
            '0/3 nodes are available: storageclass.storage.k8s.io "fast" not found.',
            "It is unschedulable: The StorageClass fast, which the pod's claim names, does not exist.",
        ),
        ("0/1 nodes are available: 1 of our own.", "It is unschedulable: 1 of our own."),
        (
            "rejected due to timeout after waiting 10s at plugin Gang",
            "It waited on Permit for 10s and was not approved.",
        ),
        ("something else", ""),
    ],
)
def test_a_message_has_a_short_text(message: str, text: str) -> None:
    assert reasons.unplaced(message) == text


def test_a_reason_about_two_objects_names_both() -> None:
    reason = 'persistentvolumeclaim "a" bound to non-existent persistentvolume "b"'
    meaning = "The PersistentVolumeClaim a is bound to the PersistentVolume b, which does not exist."
    assert meaning_of(reason) == meaning


def test_events_and_conditions_have_meanings() -> None:
    for occasion in (event_recorder.SCHEDULED, event_recorder.FAILED_SCHEDULING, event_recorder.PREEMPTED):
        assert meanings.event_meaning(occasion.reason)
    assert meanings.condition_meaning("Ready", "False", "NodeNotReady") == "Its node is not ready."
    assert meanings.condition_meaning("Ready", "False", "SomethingNew") == "It is not ready."
    assert meanings.condition_meaning("Unknown", "True", "") == ""
    assert meanings.cause_text("taint a=b:NoExecute") == "it does not tolerate the taint a=b:NoExecute"
    assert meanings.cause_text("unknown") == "unknown"
