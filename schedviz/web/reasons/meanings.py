"""Explanations of conditions, Events and the reasons in trace events (those of plugins: plugin_reasons.py).

The page shows these texts in English, as a cluster has them, with an explanation in the language of the
reader beside each. The functions return "" for a text without an explanation.
"""

import re
from typing import Final

from django.utils.translation import gettext, gettext_noop

CONDITIONS: Final = {
    ("PodScheduled", "True"): gettext_noop("The pod has a node."),
    ("PodScheduled", "SchedulingGated"): gettext_noop(
        "The pod waits until its scheduling gates are removed."
    ),
    ("PodScheduled", "SchedulerError"): gettext_noop(
        "The scheduling attempt failed with an error; no plugin rejected the pod."
    ),
    ("PodReadyToStartContainers", "True"): gettext_noop("The pod has its network and its address."),
    ("PodReadyToStartContainers", "False"): gettext_noop("The pod has no network."),
    ("Initialized", "True"): gettext_noop("The pod's init containers have completed."),
    ("ContainersReady", "True"): gettext_noop("All containers of the pod are ready."),
    ("ContainersReady", "False"): gettext_noop("Not all containers of the pod are ready."),
    ("Ready", "True"): gettext_noop("It is ready."),
    ("Ready", "False"): gettext_noop("It is not ready."),
    ("Ready", "PodCompleted"): gettext_noop("The pod has succeeded."),
    ("Ready", "PodFailed"): gettext_noop("The pod has failed."),
    ("Ready", "NodeNotReady"): gettext_noop("Its node is not ready."),
    ("Ready", "KubeletReady"): gettext_noop("The node's kubelet reports its status and accepts pods."),
    ("Ready", "NodeStatusUnknown"): gettext_noop("The node's kubelet has stopped reporting."),
    ("DisruptionTarget", "PreemptionByScheduler"): gettext_noop(
        "A pod of higher priority preempts this pod."
    ),
    ("DisruptionTarget", "DeletionByTaintManager"): gettext_noop(
        "The pod does not tolerate a NoExecute taint of its node, or not any longer."
    ),
    ("DisruptionTarget", "EvictionByEvictionAPI"): gettext_noop(
        "The pod was evicted through the eviction API, as kubectl drain does it."
    ),
    ("DisruptionTarget", "TerminationByKubelet"): gettext_noop(
        "The kubelet terminated the pod: its node is low on a resource, or shuts down."
    ),
    ("MemoryPressure", "True"): gettext_noop("The node is short of memory."),
    ("MemoryPressure", "False"): gettext_noop("The node has enough memory."),
    ("DiskPressure", "True"): gettext_noop("The node is short of disk space."),
    ("DiskPressure", "False"): gettext_noop("The node has enough disk space."),
    ("PIDPressure", "True"): gettext_noop("The node is short of process IDs."),
    ("PIDPressure", "False"): gettext_noop("The node has enough process IDs."),
    ("Available", "True"): gettext_noop("Enough of its pods are available."),
    ("Available", "False"): gettext_noop("Too few of its pods are available."),
    ("Progressing", "ReplicaSetUpdated"): gettext_noop("The rollout is progressing."),
    ("Progressing", "NewReplicaSetAvailable"): gettext_noop("The rollout is complete."),
    ("Progressing", "ProgressDeadlineExceeded"): gettext_noop(
        "The rollout made no progress within its deadline."
    ),
    ("Complete", "True"): gettext_noop("The Job is complete."),
    ("Failed", "BackoffLimitExceeded"): gettext_noop(
        "The Job's pods failed more often than its backoffLimit allows."
    ),
    ("Failed", "DeadlineExceeded"): gettext_noop("The Job took longer than its activeDeadlineSeconds."),
}
"""(Type, reason or status) -> meaning. A known reason is preferred, as it is more exact."""

EVENTS: Final = {
    "Scheduled": gettext_noop("The pod is bound to its node; the kubelet there starts it."),
    "Preempted": gettext_noop("A pod of higher priority preempts this pod."),
    "FailedScheduling": gettext_noop("The scheduling attempt failed."),
    "FailedCreate": gettext_noop("The API server refused what the controller wanted to create."),
    "FailedSync": gettext_noop("A component failed while it processed this object. It will try again."),
}

CAUSES: Final = [
    (re.compile(pattern), sentence)
    for pattern, sentence in (
        (r"taint (?P<what>.+)", gettext_noop("it does not tolerate the taint %(what)s")),
        (r"low on (?P<what>.+)", gettext_noop("the node is low on %(what)s")),
        (r"its claim is gone", gettext_noop("its claim no longer exists")),
        (r"(?P<what>.+) is gone", gettext_noop("%(what)s no longer exists")),
        (r"(?P<what>.+) is to go after this", gettext_noop("%(what)s is deleted after this")),
        (r"the Job is over: (?P<what>.+)", gettext_noop("the Job is finished: %(what)s")),
        (r"replaced by the next", gettext_noop("replaced by the next Job")),
        (r"more than the history's limit", gettext_noop("over the history limit")),
        (r"failed, or not wanted on its node", gettext_noop("failed, or must not run on its node")),
        (r"of an older template", gettext_noop("created from an older template")),
        (r"suspended", gettext_noop("suspended")),
        (r"more than its parallelism", gettext_noop("over the Job's parallelism")),
        (r"its ttlSecondsAfterFinished has passed", gettext_noop("its ttlSecondsAfterFinished has passed")),
        (r"more than the replicas asked for", gettext_noop("over the number of replicas")),
        (r"finished, and will be created again", gettext_noop("finished, and will be created again")),
    )
]
"""The reasons in trace events of controllers, kubelets and evictions: patterns for whole texts, whose named
groups are values in the explanation."""


def condition_meaning(kind: str, status: str, why: str) -> str:
    """Return the explanation of a condition. why: its reason."""
    sentence = CONDITIONS.get((kind, why)) or CONDITIONS.get((kind, status))
    return gettext(sentence) if sentence else ""


def event_meaning(why: str) -> str:
    """Return the explanation of an Event by its reason."""
    return gettext(EVENTS[why]) if why in EVENTS else ""


def cause_text(text: str) -> str:
    """Return the reason of a trace event in the active language; an unknown one unchanged."""
    for pattern, sentence in CAUSES:
        found = pattern.fullmatch(text)
        if found is not None:
            return gettext(sentence) % found.groupdict()
    return text
