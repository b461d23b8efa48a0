"""Random workloads and timetables, which create pods.

The same random.Random gives the same manifests."""

from random import Random

from simulator.api import Manifest
from tests.histories.manifests import claim_spec, manifest
from tests.histories.pods import Demands, pod

KINDS = ("Deployment", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob")


def workload(random: Random, name: str, demands: Demands) -> Manifest:
    """One of the kinds whose pods a controller makes."""
    kind = random.choice(KINDS)
    made = pod(random, name, demands)
    template = {
        "metadata": {"labels": {"app": name}, "annotations": made["metadata"]["annotations"]},
        "spec": {**made["spec"], "schedulingGates": []},
    }
    if kind in ("Job", "CronJob"):
        return _job(random, kind, name, template)
    template["spec"]["restartPolicy"] = "Always"
    spec: Manifest = {"selector": {"matchLabels": {"app": name}}, "template": template}
    if kind != "DaemonSet":
        spec["replicas"] = random.randint(1, 4)
    if kind == "Deployment" and random.random() < 0.5:
        rolling = {"maxSurge": random.choice((0, 1, "50%")), "maxUnavailable": 1}
        spec["strategy"] = random.choice(
            ({"type": "Recreate"}, {"type": "RollingUpdate", "rollingUpdate": rolling})
        )
    elif kind == "DaemonSet" and random.random() < 0.5:
        rolling = {"maxSurge": 1, "maxUnavailable": 0}
        spec["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
    elif kind == "StatefulSet":
        spec["serviceName"] = name
        if random.random() < 0.4:
            claim = {"metadata": {"name": "disk"}, "spec": claim_spec(random)}
            spec["volumeClaimTemplates"] = [claim]
    return manifest("apps/v1", kind, name, "default", spec=spec)


def _job(random: Random, kind: str, name: str, template: Manifest) -> Manifest:
    template["metadata"]["annotations"]["schedviz/run-seconds"] = "3"
    template["spec"]["restartPolicy"] = "Never"
    spec: Manifest = {"completions": random.randint(1, 4), "parallelism": 2, "template": template}
    if random.random() < 0.4:
        spec["completionMode"] = "Indexed"
    if random.random() < 0.3:
        on_codes = {"containerName": "main", "operator": "In", "values": [1]}
        rule = {"action": random.choice(("FailJob", "Ignore", "Count")), "onExitCodes": on_codes}
        spec["podFailurePolicy"] = {"rules": [rule]}
    if kind == "CronJob":
        spec = {"schedule": "* * * * *", "jobTemplate": {"spec": spec}}
    return manifest("batch/v1", kind, name, "default", spec=spec)


def with_another_image(workload: Manifest) -> Manifest:
    """The next revision: its pods are replaced."""
    spec = workload["spec"]
    template = spec["template"]
    [container] = template["spec"]["containers"]
    containers = [{**container, "image": f"{container['image']}-next"}]
    template = {**template, "spec": {**template["spec"], "containers": containers}}
    return {**workload, "spec": {**spec, "template": template}}


def timetable(random: Random, name: str, demands: Demands) -> Manifest:
    """A pod every few seconds."""
    made = pod(random, "", demands)
    made["metadata"]["generateName"] = f"{name}-"
    entry = {"at": "1s", "every": random.choice(("2s", "5s")), "until": "15s", "object": made}
    return manifest("schedviz/v1", "Timetable", name, spec={"entries": [entry]})
