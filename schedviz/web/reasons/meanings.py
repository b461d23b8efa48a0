"""Explanations of the texts of Kubernetes: reasons of the scheduler, conditions and events.

The page shows these texts in English, as a cluster has them, with an explanation in the language of the
reader beside each. The functions return "" for a text without an explanation.
"""

import re
from collections.abc import Sequence
from typing import Final

from django.utils.translation import gettext, gettext_noop

from schedviz.web.text import format as fmt

Patterns = Sequence[tuple[re.Pattern[str], str]]
"""Patterns for whole texts, with their explanations. Named groups are the values in the explanation."""

REASONS: Final[Patterns] = [
    (re.compile(pattern), sentence)
    for pattern, sentence in (
        (
            r"Insufficient (?P<what>.+)",
            gettext_noop("Less %(what)s is free (allocatable less all requests) than the pod requests."),
        ),
        (r"Too many pods", gettext_noop("The node already has its maximum number of pods.")),
        (
            r"node\(s\) had untolerated taint\(s\)",
            gettext_noop("The pod has no toleration for a taint of the node."),
        ),
        (
            r"node\(s\) didn't match Pod's required features",
            gettext_noop("The node's status.declaredFeatures lacks a feature that the pod needs."),
        ),
        (
            r"(?P<what>\S+) CSI driver is not installed on the node",
            gettext_noop("The node's CSINode lacks the driver %(what)s of one of the pod's volumes."),
        ),
        (
            r"node\(s\) had untolerated taint (?P<what>.+)",
            gettext_noop("The pod has no toleration for the taint %(what)s."),
        ),
        (
            r"node\(s\) were unschedulable",
            gettext_noop("The node is cordoned: with spec.unschedulable, no new pods are scheduled to it."),
        ),
        (
            r"node\(s\) didn't match the requested node name",
            gettext_noop("The pod's spec.nodeName is that of another node."),
        ),
        (
            r"node\(s\) didn't match Pod's node affinity/selector",
            gettext_noop("The node's labels do not match the pod's nodeSelector or required node affinity."),
        ),
        (
            r"node\(s\) didn't match scheduler-enforced node affinity",
            gettext_noop("The node's labels do not match the affinity that the profile adds to every pod."),
        ),
        (
            r"pod affinity terms conflict",
            gettext_noop(
                "The terms of the pod's node affinity contradict each other: no node can match them."
            ),
        ),
        (
            r"node\(s\) didn't have free ports for the requested pod ports",
            gettext_noop("A hostPort that the pod requests is in use by a pod on the node."),
        ),
        (
            r"node\(s\) didn't match pod affinity rules",
            gettext_noop(
                "For a required affinity term, no pod in the node's domain matches, or the node lacks the "
                "topologyKey."
            ),
        ),
        (
            r"node\(s\) didn't match pod anti-affinity rules",
            gettext_noop("A pod that this one must be apart from runs in the node's domain."),
        ),
        (
            r"node\(s\) didn't satisfy existing pods anti-affinity rules",
            gettext_noop("A pod in the node's domain must be apart from this one."),
        ),
        (
            r"node\(s\) didn't match pod topology spread constraints",
            gettext_noop("With this pod, the node's domain would exceed the maxSkew of a constraint."),
        ),
        (
            r"node\(s\) didn't match pod topology spread constraints \(missing required label\)",
            gettext_noop("The node lacks the label that is the topologyKey of a topology spread constraint."),
        ),
        (
            r"node\(s\) had no available disk",
            gettext_noop("The pod's disk is in use by another pod on the node."),
        ),
        (
            r"node\(s\) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode .+",
            gettext_noop("Another pod uses the claim, which only one pod may (ReadWriteOncePod)."),
        ),
        (
            r"node\(s\) didn't match PersistentVolume's node affinity",
            gettext_noop("The pod's volume cannot be reached from the node."),
        ),
        (
            r"node\(s\) didn't find available persistent volumes to bind",
            gettext_noop("No available volume that the node can reach matches the pod's claim."),
        ),
        (
            r"node\(s\) did not have enough free storage",
            gettext_noop(
                "The storage that the node can reach has too little free capacity for the pod's claim."
            ),
        ),
        (
            r"node\(s\) unavailable due to one or more pvc\(s\) bound to non-existent pv\(s\)",
            gettext_noop("The pod's claim is bound to a volume that does not exist."),
        ),
        (
            r"node\(s\) had no available volume zone",
            gettext_noop("The pod's volume is in another zone or region than the node."),
        ),
        (
            r"node\(s\) exceed max volume count",
            gettext_noop("The node would have more volumes attached than it allows."),
        ),
        (
            r"pod has unbound immediate PersistentVolumeClaims",
            gettext_noop("The pod's claim must be bound to a volume before any node is evaluated."),
        ),
        (
            r"waiting for scheduling gates: (?P<what>.+)",
            gettext_noop("The scheduling gates %(what)s must be removed first."),
        ),
        (
            r'persistentvolumeclaim "(?P<what>.+)" not found',
            gettext_noop("The PersistentVolumeClaim %(what)s, which the pod names, does not exist."),
        ),
        (
            r'persistentvolume "(?P<what>.+)" not found',
            gettext_noop("The PersistentVolume %(what)s, to which the pod's claim is bound, does not exist."),
        ),
        (
            r'storageclass\.storage\.k8s\.io "(?P<what>.+)" not found',
            gettext_noop("The StorageClass %(what)s, which the pod's claim names, does not exist."),
        ),
        (
            r'could not find ResourceClaim "(?P<what>.+)"',
            gettext_noop("The ResourceClaim %(what)s, which the pod names, does not exist."),
        ),
        (
            r'pod ".+": ResourceClaim not created yet',
            gettext_noop("The pod's ResourceClaim is not created from its template yet."),
        ),
        (
            r"cannot allocate all claims",
            gettext_noop("The free devices of the node cannot serve all of the pod's resource claims."),
        ),
        (
            r"resourceclaim not available on the node",
            gettext_noop("A resource claim of the pod is allocated to devices that the node cannot use."),
        ),
        (
            r"timed out trying to allocate devices",
            gettext_noop("The search for devices on the node took too many steps."),
        ),
        (
            r'waiting for ephemeral volume controller to create the persistentvolumeclaim "(?P<what>.+)"',
            gettext_noop("The PersistentVolumeClaim %(what)s of its ephemeral volume is not created yet."),
        ),
        (
            (
                r'persistentvolumeclaim "(?P<what>[^"]+)" bound to non-existent persistentvolume '
                r'"(?P<volume>[^"]*)"'
            ),
            gettext_noop(
                "The PersistentVolumeClaim %(what)s is bound to the PersistentVolume %(volume)s, which does "
                "not exist."
            ),
        ),
        (
            r'persistentvolumeclaim "(?P<what>.+)" is being deleted',
            gettext_noop("The PersistentVolumeClaim %(what)s is being deleted."),
        ),
        (
            r".+ not found",
            gettext_noop("An object that the pod names does not exist."),
        ),
        (
            r"No preemption victims found for incoming pod",
            gettext_noop("No pod there has a lower priority: none can be evicted."),
        ),
        (
            r"Preemption is not helpful for scheduling",
            gettext_noop("Evicting pods from the node would not make the pod fit."),
        ),
        (
            r"not eligible due to preemptionPolicy=Never\.",
            gettext_noop("The pod's preemptionPolicy does not allow it to preempt."),
        ),
        (
            r"not eligible due to a terminating pod on the nominated node\.",
            gettext_noop(
                "On its nominated node, a pod of lower priority that was preempted is still terminating."
            ),
        ),
        (
            r"rejected due to timeout after waiting (?P<what>\S+) at plugin .+",
            gettext_noop("It waited on Permit for %(what)s and was not approved."),
        ),
    )
]
"""The reasons of filter plugins with their explanations. They are constants of upstream's plugins
(pkg/scheduler/framework/plugins)."""

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

CAUSES: Final[Patterns] = [
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
"""The reasons in trace events of controllers, kubelets and evictions."""


def reason_meaning(text: str) -> str:
    """Return the explanation of a plugin's reason for one node or for all nodes."""
    return translate_match(REASONS, text)


def reason_pattern(text: str) -> str:
    """Return the pattern of a reason, which reasons of the same kind share whatever objects they name."""
    return next((pattern.pattern for pattern, _ in REASONS if pattern.fullmatch(text)), "")


def reasons_meaning(texts: Sequence[str], at_most: int) -> str:
    """Return the explanation of reasons of one kind, with the first of the objects that they name."""
    for pattern, sentence in REASONS:
        found = [match.groupdict() for text in texts if (match := pattern.fullmatch(text))]
        if len(found) == len(texts):
            named = {name: [*dict.fromkeys(each[name] for each in found)] for name in found[0]}
            return gettext(sentence) % {
                name: fmt.first_pods(values, at_most) for name, values in named.items()
            }
    return ""


def condition_meaning(kind: str, status: str, why: str) -> str:
    """Return the explanation of a condition. why: its reason."""
    sentence = CONDITIONS.get((kind, why)) or CONDITIONS.get((kind, status))
    return gettext(sentence) if sentence else ""


def event_meaning(why: str) -> str:
    """Return the explanation of an Event by its reason."""
    return gettext(EVENTS[why]) if why in EVENTS else ""


def cause_text(text: str) -> str:
    """Return the reason of a trace event in the active language; an unknown one unchanged."""
    return translate_match(CAUSES, text) or text


def translate_match(patterns: Patterns, text: str) -> str:
    """Return the translated sentence of the first pattern that matches; "" if none does."""
    for pattern, sentence in patterns:
        found = pattern.fullmatch(text)
        if found is not None:
            return gettext(sentence) % found.groupdict()
    return ""
