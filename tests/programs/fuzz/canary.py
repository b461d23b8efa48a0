"""A pod that each sandbox's loop must still bind, beside any other objects of the sandbox."""

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

from schedviz.api import schedulers
from schedviz.loop import clock
from schedviz.store import Commit, Meta, Sandbox, Store
from schedviz.store.hold import Hold
from simulator.api import Change
from simulator.apiserver.kinds.quotas import LIMIT_RANGES
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.quota.evaluator import QUOTAS
from simulator.objects.metadata import key_of
from tests.programs.fuzz.clients import PATIENCE

PATIENCE_IN_ALL = 180.0
"""Seconds until the canary must be bound."""

STILL_AT_MOST = 60.0
"""Seconds without a new trace event that are allowed: longer than the loop waits after a fault."""

SPEED = 20.0
"""The speed of the sandboxes. A worker that shares two cores with all other processes is late at a higher
speed, and late work is all due at once."""

TRACE_SHOWN = 15

NAMESPACE, NODE, POD = "canary", "canary", "canary"

OBJECTS = parse_manifests(f"""
{{apiVersion: v1, kind: Namespace, metadata: {{name: {NAMESPACE}}}}}
---
apiVersion: v1
kind: Node
metadata: {{name: {NODE}, labels: {{canary: "true"}}}}
spec: {{taints: [{{key: canary, effect: NoSchedule}}]}}
status: {{allocatable: {{cpu: "1000", memory: 1Ti, pods: "10000"}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: {POD}, namespace: {NAMESPACE}}}
spec:
  priorityClassName: system-node-critical
  nodeSelector: {{canary: "true"}}
  tolerations: [{{key: canary, operator: Exists}}]
  containers: [{{name: main, image: "registry.example/canary:1", resources: {{requests: {{cpu: 1m}}}}}}]
""")
"""A node with a taint that only the canary tolerates, and the canary, a pod of the highest priority that fits
there."""

REFUSING = (QUOTAS, LIMIT_RANGES.id)
"""The resources whose objects can refuse the canary, its node or its namespace."""


class NotBound(Exception):
    """Describes the state of the loop."""


def prepare(store: Store, sandbox: Sandbox, meta: Meta) -> None:
    """Undo what requests may have done so that the canary is refused or no pod is scheduled: quotas
    and limit ranges; a pause, another configuration, a scheduler that stands down, a
    presenter who hides the answers of Predict, so that no other visitor may write."""
    Hold(store.redis, sandbox.name, lambda: meta.created).release()
    if sandbox.meta().config != meta.config:
        usual = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        schedulers.configure(sandbox, meta.config or usual, ["the canary's"])
    if refusing := [
        Change(resource, key_of(manifest), None)
        for resource in REFUSING
        for manifest in sandbox.list(resource).items
    ]:
        sandbox.commit(Commit(refusing))
    schedulers.switch_scheduler(sandbox, stands_down=False)
    clock.resume(sandbox)
    clock.set_speed(sandbox, SPEED)


def check(port: int, sandbox: Sandbox) -> None:
    """Create the canary and wait until it is bound. Raises NotBound."""
    for manifest, path in zip(OBJECTS, _paths(), strict=True):
        if manifest["kind"] == "Namespace":
            _create_namespace(port, sandbox, path, manifest)
            continue
        _send(port, "DELETE", f"/s/{sandbox.name}/{path}/{manifest['metadata']['name']}?gracePeriodSeconds=0")
        status, text = _send(port, "POST", f"/s/{sandbox.name}/{path}", json.dumps(manifest))
        if status not in (201, 409):
            raise NotBound(f"{manifest['kind']} of the canary: {status} {text[:500]}")
    end, head, moved = time.monotonic() + PATIENCE_IN_ALL, -1, time.monotonic()
    while True:
        pod = sandbox.get("pods", f"{NAMESPACE}/{POD}")
        if pod is None or pod["spec"].get("nodeName"):
            return
        now = time.monotonic()
        if sandbox.trace_head() != head:
            head, moved = sandbox.trace_head(), now
        if now > end or now > moved + STILL_AT_MOST:
            raise NotBound("\n".join(_situation(sandbox, pod)))
        time.sleep(0.05)


def _create_namespace(port: int, sandbox: Sandbox, path: str, manifest: dict[str, Any]) -> None:
    """Create the canary's namespace. A request may have deleted it: it exists until its controller has
    deleted its objects. Raises NotBound."""
    end = time.monotonic() + PATIENCE_IN_ALL
    while time.monotonic() < end:
        _send(port, "POST", f"/s/{sandbox.name}/{path}", json.dumps(manifest))
        found = sandbox.get("namespaces", NAMESPACE)
        if found is not None and "deletionTimestamp" not in found["metadata"]:
            return
        time.sleep(0.05)
    raise NotBound(f"the namespace of the canary is not gone: {sandbox.get('namespaces', NAMESPACE)}")


def _situation(sandbox: Sandbox, pod: dict[str, object]) -> Iterator[str]:
    yield f"the canary is not bound: {json.dumps(pod.get('status'))}"
    yield f"queue place: {sandbox.queue_place(f'{NAMESPACE}/{POD}')}; progress: {sandbox.progress()}"
    yield f"{sandbox.clock()}"
    for number, event in sandbox.trace_tail(TRACE_SHOWN):
        yield f"  {number} {event}"


def _paths() -> list[str]:
    return ["api/v1/namespaces", "api/v1/nodes", f"api/v1/namespaces/{NAMESPACE}/pods"]


def _send(port: int, method: str, path: str, body: str = "") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read().decode(errors="replace")
    except OSError as error:
        return 0, f"{type(error).__name__}: {error}"
    finally:
        connection.close()
