"""Random pods with all kinds of demands.

The same random.Random gives the same manifests."""

from random import Random

from simulator.api import Manifest
from tests.histories import devices
from tests.histories.manifests import (
    APPS,
    CLASSES,
    EXTENDED,
    FAULT_POINTS,
    HOSTNAME,
    IMAGES,
    NAMESPACES,
    PREFERRED,
    REQUIRED,
    ZONE,
    ZONES,
    claim_spec,
    manifest,
)

Demands = dict[str, float]
"""How probable each demand of a pod is, by its name in :data:`DEMANDS`."""


def pod(random: Random, name: str, demands: Demands) -> Manifest:
    app = random.choice(APPS)
    requests = {
        "cpu": random.choice(("100m", "250m", "500m", "1", "1500m", "2", "3")),
        "memory": random.choice(("64Mi", "256Mi", "1Gi", "3Gi")),
    }
    container: Manifest = {
        "name": "main",
        "image": random.choice(IMAGES),
        "resources": {"requests": requests},
    }
    made = manifest("v1", "Pod", name, random.choice(("default", "default", *NAMESPACES)))
    made["metadata"] |= {"labels": {"app": app}, "annotations": {}}
    made["spec"] = {"containers": [container]}
    made["spec"]["terminationGracePeriodSeconds"] = random.choice((0, 1, 5))
    for demand, add in DEMANDS.items():
        if random.random() < demands.get(demand, 0.0):
            add(random, made)
    # Not drawn where it is not demanded, so that the histories of other themes stay as they are recorded.
    if "devices" in demands and random.random() < demands["devices"]:
        _devices(random, made)
    return made


def _priority(random: Random, pod: Manifest) -> None:
    pod["spec"]["priorityClassName"] = random.choice([*CLASSES])


def _selector(random: Random, pod: Manifest) -> None:
    pod["spec"]["nodeSelector"] = {"disk": random.choice(("ssd", "hdd"))}


def _node_affinity(random: Random, pod: Manifest) -> None:
    operator = random.choice(("In", "NotIn", "Exists", "DoesNotExist"))
    expression: Manifest = {"key": random.choice((ZONE, "disk")), "operator": operator}
    if operator in ("In", "NotIn"):
        expression["values"] = random.sample(ZONES, 2) if expression["key"] == ZONE else ["ssd"]
    term = {"matchExpressions": [expression]}
    affinity: Manifest = {}
    if random.random() < 0.6:
        affinity[REQUIRED] = {"nodeSelectorTerms": [term]}
    else:
        affinity[PREFERRED] = [{"weight": random.randint(1, 100), "preference": term}]
    _affinity(pod)["nodeAffinity"] = affinity


def _pod_affinity(random: Random, pod: Manifest) -> None:
    _affinity(pod)["podAffinity"] = {REQUIRED: [_term(random)]}


def _pod_anti_affinity(random: Random, pod: Manifest) -> None:
    _affinity(pod)["podAntiAffinity"] = {REQUIRED: [_term(random, pod["metadata"]["labels"]["app"])]}


def _preferred_affinity(random: Random, pod: Manifest) -> None:
    kind = random.choice(("podAffinity", "podAntiAffinity"))
    weighted = {"weight": random.randint(1, 100), "podAffinityTerm": _term(random)}
    _affinity(pod).setdefault(kind, {})[PREFERRED] = [weighted]


def _term(random: Random, app: str = "") -> Manifest:
    term: Manifest = {
        "topologyKey": random.choice((ZONE, HOSTNAME)),
        "labelSelector": {"matchLabels": {"app": app or random.choice(APPS)}},
    }
    if random.random() < 0.2:
        term["namespaceSelector"] = {"matchLabels": {"team": "blue"}}
    elif random.random() < 0.2:
        term["namespaces"] = ["default", "green"]
    return term


def _spread(random: Random, pod: Manifest) -> None:
    constraint: Manifest = {
        "maxSkew": random.randint(1, 2),
        "topologyKey": random.choice((ZONE, HOSTNAME)),
        "whenUnsatisfiable": random.choice(("DoNotSchedule", "ScheduleAnyway")),
        "labelSelector": {"matchLabels": {"app": pod["metadata"]["labels"]["app"]}},
    }
    if random.random() < 0.2:
        constraint["nodeTaintsPolicy"] = "Honor"
    if random.random() < 0.2 and constraint["whenUnsatisfiable"] == "DoNotSchedule":
        constraint["minDomains"] = random.randint(1, 3)
    pod["spec"]["topologySpreadConstraints"] = [constraint]


def _tolerations(random: Random, pod: Manifest) -> None:
    toleration: Manifest = {"key": "dedicated", "operator": random.choice(("Exists", "Equal"))}
    if toleration["operator"] == "Equal":
        toleration["value"] = random.choice(("one", "two"))
    if random.random() < 0.3:
        toleration |= {"effect": "NoExecute", "tolerationSeconds": random.choice((2, 10))}
    pod["spec"]["tolerations"] = [toleration]


def _host_port(random: Random, pod: Manifest) -> None:
    pod["spec"]["containers"][0]["ports"] = [
        {
            "containerPort": 80,
            "hostPort": random.choice((80, 8080)),
            "protocol": random.choice(("TCP", "UDP")),
        }
    ]


def _gates(random: Random, pod: Manifest) -> None:
    pod["spec"]["schedulingGates"] = [
        {"name": f"example.com/{name}"} for name in ("one", "two")[: random.randint(1, 2)]
    ]


def _volume(random: Random, pod: Manifest) -> None:
    source: Manifest = {"persistentVolumeClaim": {"claimName": f"claim-{random.randrange(6)}"}}
    if random.random() < 0.3:
        template = {"spec": claim_spec(random)}
        source = {"ephemeral": {"volumeClaimTemplate": template}}
    elif random.random() < 0.1:
        source = {"gcePersistentDisk": {"pdName": random.choice(("disk-1", "disk-2"))}}
    pod["spec"]["volumes"] = [{"name": "data", **source}]


def _gang(random: Random, pod: Manifest) -> None:
    pod["metadata"]["labels"]["schedviz/gang"] = random.choice(("red", "blue"))
    pod["metadata"]["annotations"]["schedviz/gang-size"] = str(random.randint(2, 4))


def _fault(random: Random, pod: Manifest) -> None:
    pod["metadata"]["annotations"]["schedviz/fail-at"] = random.choice(FAULT_POINTS)


def _lifetime(random: Random, pod: Manifest) -> None:
    annotations = pod["metadata"]["annotations"]
    annotations["schedviz/run-seconds"] = random.choice(("2", "8", "25"))
    if random.random() < 0.5:
        annotations["schedviz/ttl-seconds-after-finished"] = "1"


def _failing(random: Random, pod: Manifest) -> None:
    pod["metadata"]["annotations"]["schedviz/fail-after-seconds"] = random.choice(("1", "6"))
    pod["spec"]["restartPolicy"] = random.choice(("Always", "OnFailure", "Never"))


def _readiness(random: Random, pod: Manifest) -> None:
    annotations = pod["metadata"]["annotations"]
    annotations["schedviz/ready-after-seconds"] = random.choice(("1", "5"))
    annotations["schedviz/stop-seconds"] = random.choice(("0", "2"))


def _extended(random: Random, pod: Manifest) -> None:
    resources = pod["spec"]["containers"][0]["resources"]
    resources["requests"][EXTENDED] = "1"
    resources["limits"] = {EXTENDED: "1"}


def _init_container(random: Random, pod: Manifest) -> None:
    container: Manifest = {"name": "init", "image": IMAGES[0], "resources": {"requests": {"cpu": "2"}}}
    if random.random() < 0.5:
        container |= {"restartPolicy": "Always", "resources": {"requests": {"cpu": "200m"}}}
    pod["spec"]["initContainers"] = [container]


def _profile(random: Random, pod: Manifest) -> None:
    """A schedulerName that perhaps no profile of the configuration has."""
    pod["spec"]["schedulerName"] = "packing"


def _polite(random: Random, pod: Manifest) -> None:
    pod["spec"]["priorityClassName"] = "polite"


def _devices(random: Random, pod: Manifest) -> None:
    """Claims are in one namespace only."""
    pod["metadata"]["namespace"] = "default"
    reference = (
        {"resourceClaimName": random.choice(devices.SHARED)}
        if random.random() < 0.4
        else {"resourceClaimTemplateName": random.choice(devices.TEMPLATES)}
    )
    pod["spec"]["resourceClaims"] = [{"name": "devices", **reference}]


DEMANDS = {
    "priority": _priority,
    "selector": _selector,
    "node-affinity": _node_affinity,
    "pod-affinity": _pod_affinity,
    "pod-anti-affinity": _pod_anti_affinity,
    "preferred-affinity": _preferred_affinity,
    "spread": _spread,
    "tolerations": _tolerations,
    "host-port": _host_port,
    "gates": _gates,
    "volume": _volume,
    "gang": _gang,
    "fault": _fault,
    "lifetime": _lifetime,
    "failing": _failing,
    "readiness": _readiness,
    "extended": _extended,
    "init-container": _init_container,
    "profile": _profile,
    "polite": _polite,
}


def _affinity(pod: Manifest) -> Manifest:
    affinity: Manifest = pod["spec"].setdefault("affinity", {})
    return affinity
