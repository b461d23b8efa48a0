"""The output of ``kubectl describe pod`` and ``kubectl get events``, exactly as kubectl prints it. Values
that a simulated pod does not have (container ids, mounts) are empty, as kubectl prints missing values.

Upstream: kubectl/pkg/describe/describe.go (describePod, DescribeEvents), v1.34.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Final

from schedviz.store.past import Readable
from schedviz.web.kubectl.tables import columns, tabbed
from schedviz.web.manifests.events import events_of_pod
from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.printers.column import human_duration
from simulator.objects.events import event_count, event_first_seen, event_last_seen
from simulator.objects.owner_references import controller_of
from simulator.objects.timestamps import micros

NONE: Final = "<none>"


def pod(sandbox: Readable, manifest: Manifest, now: Micros) -> str:
    spec, status = manifest["spec"], manifest.get("status") or {}
    lines = [
        *heading(manifest, now),
        "Containers:",
        *chain.from_iterable(container(each, status) for each in spec["containers"]),
        *conditions(status),
        f"Volumes:\t{NONE if not spec.get('volumes') else ''}",
        *(f"  {each['name']}:" for each in spec.get("volumes") or ()),
        f"QoS Class:\t{status.get('qosClass', 'BestEffort')}",
        *pair_lines("Node-Selectors", spec.get("nodeSelector") or {}),
        *listed("Tolerations", [toleration(each) for each in spec.get("tolerations") or ()]),
        *spreading(spec),
        *event_table(sandbox, manifest, now),
    ]
    return "\n".join(line.rstrip() for line in tabbed(lines))


def heading(manifest: Manifest, now: Micros) -> Iterator[str]:
    metadata, spec, status = manifest["metadata"], manifest["spec"], manifest.get("status") or {}
    yield f"Name:\t{metadata['name']}"
    yield f"Namespace:\t{metadata['namespace']}"
    if spec.get("priority") is not None:
        yield f"Priority:\t{spec['priority']}"
    if spec.get("priorityClassName"):
        yield f"Priority Class Name:\t{spec['priorityClassName']}"
    if spec.get("serviceAccountName"):
        yield f"Service Account:\t{spec['serviceAccountName']}"
    yield f"Node:\t{spec['nodeName'] + '/' if spec.get('nodeName') else NONE}"
    if status.get("startTime"):
        yield f"Start Time:\t{rfc1123(status['startTime'])}"
    yield from pair_lines("Labels", metadata.get("labels") or {}, "=")
    yield from pair_lines("Annotations", metadata.get("annotations") or {}, ": ")
    if metadata.get("deletionTimestamp"):
        since = human_duration(max(0, (now - micros(metadata["deletionTimestamp"])) // SECOND))
        yield f"Status:\tTerminating (lasts {since})"
        yield f"Termination Grace Period:\t{metadata.get('deletionGracePeriodSeconds', 0)}s"
    else:
        yield f"Status:\t{status.get('phase', '')}"
    for field in ("reason", "message"):
        if status.get(field):
            yield f"{field.capitalize()}:\t{status[field]}"
    yield f"IP:\t{status.get('podIP', '')}"
    yield f"IPs:\t{NONE}"
    controller = controller_of(manifest)
    if controller is not None:
        yield f"Controlled By:\t{controller['kind']}/{controller['name']}"
    if status.get("nominatedNodeName"):
        yield f"NominatedNodeName:\t{status['nominatedNodeName']}"


def container(spec: Manifest, status: Manifest) -> Iterator[str]:
    known = [each for each in status.get("containerStatuses") or () if each.get("name") == spec["name"]]
    yield f"  {spec['name']}:"
    for each in known:
        yield f"    Container ID:\t{each.get('containerID', '')}"
    yield f"    Image:\t{spec.get('image', '')}"
    for each in known:
        yield f"    Image ID:\t{each.get('imageID', '')}"
    ports = spec.get("ports") or ()
    numbers = ", ".join(f"{each['containerPort']}/{each.get('protocol', 'TCP')}" for each in ports)
    on_host = ", ".join(f"{each.get('hostPort', 0)}/{each.get('protocol', 'TCP')}" for each in ports)
    plural = "s" if len(ports) > 1 else ""
    yield f"    Port{plural}:\t{numbers or NONE}"
    yield f"    Host Port{plural}:\t{on_host or NONE}"
    for each in known:
        yield from state("State", each.get("state") or {})
        if each.get("lastState"):
            yield from state("Last State", each["lastState"])
        yield f"    Ready:\t{each.get('ready', False)}"
        yield f"    Restart Count:\t{each.get('restartCount', 0)}"
    for kind in ("limits", "requests"):
        amounts = (spec.get("resources") or {}).get(kind)
        if amounts:
            yield f"    {kind.capitalize()}:"
            yield from (f"      {name}:\t{amounts[name]}" for name in sorted(amounts))
    yield f"    Environment:\t{NONE}"
    yield f"    Mounts:\t{NONE}"


def state(title: str, found: Mapping[str, Manifest]) -> Iterator[str]:
    [(kind, facts)] = [*found.items()][:1] or [("waiting", {})]
    yield f"    {title}:\t{kind.capitalize()}"
    if facts.get("reason"):
        yield f"      Reason:\t{facts['reason']}"
    if kind == "terminated":
        yield f"      Exit Code:\t{facts.get('exitCode', 0)}"
    for field, name in (("startedAt", "Started"), ("finishedAt", "Finished")):
        if facts.get(field):
            yield f"      {name}:\t{rfc1123(facts[field])}"


def conditions(status: Manifest) -> Iterator[str]:
    found = status.get("conditions") or ()
    if found:
        yield "Conditions:"
        yield "  Type\tStatus"
        yield from (f"  {each['type']} \t{each['status']} " for each in found)


def toleration(found: Manifest) -> str:
    text: str = found.get("key", "")
    if found.get("value"):
        text += f"={found['value']}"
    if found.get("effect"):
        text += f":{found['effect']}"
    if found.get("operator") == "Exists" and not found.get("value"):
        text += " op=Exists" if text else "op=Exists"
    if found.get("tolerationSeconds") is not None:
        text += f" for {found['tolerationSeconds']}s"
    return text


def spreading(spec: Manifest) -> Iterator[str]:
    found = [
        f"{each['topologyKey']}:{each['whenUnsatisfiable']} when max skew {each['maxSkew']} is exceeded"
        for each in spec.get("topologySpreadConstraints") or ()
    ]
    if found:
        yield from listed("Topology Spread Constraints", found)


def pair_lines(title: str, found: Mapping[str, str], between: str = "=") -> Iterator[str]:
    yield from listed(title, [f"{key}{between}{found[key]}" for key in sorted(found)])


def listed(title: str, found: Sequence[str]) -> Iterator[str]:
    yield f"{title}:\t{found[0] if found else NONE}"
    yield from (f"\t{each}" for each in found[1:])


def event_table(sandbox: Readable, manifest: Manifest, now: Micros) -> Iterator[str]:
    found = events_of_pod(sandbox, manifest["metadata"])
    if not found:
        yield f"Events:\t{NONE}"
        return
    yield "Events:"
    yield "  Type\tReason\tAge\tFrom\tMessage"
    yield "  ----\t------\t----\t----\t-------"
    for event in found:
        message = event["message"].strip()
        yield "\t".join([f"  {event['type']}", event["reason"], seen(event, now), source(event), message])


def events(sandbox: Readable, manifest: Manifest, now: Micros) -> str:
    """Return the output of ``kubectl get events`` for one pod."""
    metadata = manifest["metadata"]
    found = events_of_pod(sandbox, metadata)
    if not found:
        return f"No resources found in {metadata['namespace']} namespace."
    rows = [["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]]
    for event in found:
        age = human_duration((now - event_last_seen(event)) // SECOND)
        rows.append([age, event["type"], event["reason"], f"pod/{metadata['name']}", event["message"]])
    return "\n".join(columns(rows))


def seen(event: Manifest, now: Micros) -> str:
    last = human_duration((now - event_last_seen(event)) // SECOND)
    if event_count(event) < 2:
        return last
    return f"{last} (x{event_count(event)} over {human_duration((now - event_first_seen(event)) // SECOND)})"


def source(event: Manifest) -> str:
    return str(event.get("reportingComponent") or (event.get("source") or {}).get("component", ""))


def rfc1123(timestamp: str) -> str:
    return datetime.fromtimestamp(micros(timestamp) // SECOND, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
