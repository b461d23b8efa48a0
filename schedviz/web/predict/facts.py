"""The facts from which a question of the prediction mode can be answered: the pod's demands, and the amounts
of each node and pod."""

from collections.abc import Mapping
from typing import Final

import msgspec
from django.utils.translation import gettext

from schedviz.web.kubectl.describe.fields import toleration
from schedviz.web.manifests import terms
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.records import NodeRecord, pod_record
from schedviz.web.queue.lanes import title
from schedviz.web.text import format as fmt
from simulator.api import Manifest

PODS_AT_MOST: Final = 20
LABELS_AT_MOST: Final = 12
OF_EVERY_POD: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
"""The taints that admission lets every pod tolerate for some time."""


class Fact(msgspec.Struct, frozen=True):
    """A name and its values, of which there may be none."""

    name: str
    values: list[str]


def of_pod(manifest: Manifest) -> list[Fact]:
    """Return the facts that decide where a pod may run."""
    spec, record = manifest["spec"], pod_record(manifest)
    affinity = spec.get("affinity") or {}
    tolerations = [each for each in spec.get("tolerations") or () if each.get("key") not in OF_EVERY_POD]
    facts = [
        Fact(gettext("requests"), [fmt.requests(record.requests)]),
        Fact(gettext("priority"), [fmt.number(record.priority)]),
        Fact(gettext("tolerates"), [toleration(each) for each in tolerations]),
        Fact(
            gettext("node labels needed"),
            [
                *terms.pairs(spec.get("nodeSelector") or {}),
                *_node_terms(affinity.get("nodeAffinity") or {}),
            ],
        ),
    ]
    spread = spec.get("topologySpreadConstraints") or ()
    more = [
        Fact(gettext("near pods"), _pod_terms(affinity.get("podAffinity") or {})),
        Fact(gettext("apart from pods"), _pod_terms(affinity.get("podAntiAffinity") or {})),
        Fact(gettext("spread"), [terms.spread_constraint(each) for each in spread]),
    ]
    if spec.get("preemptionPolicy") == "Never":
        more.append(Fact("preemptionPolicy", ["Never"]))
    return [*facts, *(fact for fact in more if fact.values)]


def of_node(picture: Picture, name: str) -> list[Fact]:
    node = picture.nodes.get(name)
    if node is None:
        return []
    pods = sorted(picture.by_node.get(name, {}).values(), key=lambda pod: (-pod.priority, pod.key))
    on_it = [
        f"{fmt.pod_name(pod.key)} ({fmt.number(pod.priority)}: {fmt.requests(pod.requests)})"
        for pod in pods[:PODS_AT_MOST]
    ]
    if len(pods) > PODS_AT_MOST:
        on_it.append("…")
    labels = [f"{key}={value}" if value else key for key, value in sorted(node.labels.items())]
    facts = [
        Fact(gettext("taints"), [*node.taints]),
        Fact(gettext("conditions"), [*_cordoned(node), *node.conditions]),
        Fact(gettext("pods (priority: requests)"), on_it),
        Fact(gettext("labels"), labels[:LABELS_AT_MOST]),
    ]
    return [fact for fact in facts if fact.values]


def free(picture: Picture, name: str, wanted: Mapping[str, int]) -> str:
    """Return the free amounts of a node, of the resources that a pod requests."""
    node = picture.nodes.get(name)
    if node is None:
        return ""
    load = picture.loads.get(name)
    taken = load.requests if load else {}
    left = {
        resource: node.allocatable.get(resource, 0) - taken.get(resource, 0)
        for resource in [*(each for each, amount in wanted.items() if amount and each != "pods"), "pods"]
    }
    amounts = [f"{fmt.amount(resource, amount)} {resource}" for resource, amount in left.items()]
    return gettext("free: %(amounts)s") % {"amounts": fmt.listed(amounts)}


def in_queue(picture: Picture, key: str) -> list[Fact]:
    """Return the facts of a pod that waits in the queue."""
    entry, pod = picture.queue_places.get(key), picture.pods.get(key)
    if entry is None:
        return []
    facts = [
        Fact(gettext("lane"), [title(entry.lane)]),
        Fact(gettext("added to the queue"), [fmt.clock(entry.queued)]),
        Fact(gettext("attempts"), [str(entry.attempts)]),
        Fact(gettext("requests"), [fmt.requests(pod.requests)] if pod else []),
        Fact(gettext("created"), [fmt.clock(pod.created)] if pod else []),
    ]
    return [fact for fact in facts if fact.values]


def _cordoned(node: NodeRecord) -> list[str]:
    return [gettext("cordoned")] if node.unschedulable else []


def _node_terms(affinity: Manifest) -> list[str]:
    required = affinity.get(terms.REQUIRED) or {}
    return [terms.node_term(each) for each in required.get("nodeSelectorTerms") or ()]


def _pod_terms(affinity: Manifest) -> list[str]:
    return [terms.pod_term(each) for each in affinity.get(terms.REQUIRED) or ()]
