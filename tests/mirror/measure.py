"""Measures a mirroring process: ``python -m tests.mirror.measure --nodes 1000 --pods 10000 --rate 20``.

An API server of a few lines, in a process of its own, lists nodes and pods and then binds ``--rate`` pods a
second: for each it sends what a scheduler, a kubelet and a controller write. Redis, a web server and a
worker run as ``manage.py up`` starts them. It prints how long the first picture takes, how old a binding is
when it is in the sandbox, and the CPU time and the largest memory of the mirroring process.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from schedviz.real_cluster.read_resources import FOLLOWED, list_path
from schedviz.store import NoSandbox, Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from tests.kubectl_plugin.api_server import write_kubeconfig

PER_TEMPLATE: Final = 100
WRITES: Final = 4
"""Writes of a pod that is bound: the binding, its containers start, they run, it is ready."""
SECONDS: Final = 60


def node(number: int) -> dict[str, Any]:
    name = f"ip-10-{number // 250}-{number % 250}-17.eu-west-1.compute.internal"
    amounts = {"cpu": "15890m", "memory": "122000Mi", "pods": "110"}
    images = [
        {"names": [f"registry.example.com/team/app-{each}:1.4.2"], "sizeBytes": 90_000_000 + each}
        for each in range(30)
    ]
    return {
        "metadata": {
            "name": name,
            "uid": f"node-{number}",
            "creationTimestamp": "2026-11-01T00:00:00Z",
            "resourceVersion": str(number + 1),
            "labels": {
                "kubernetes.io/hostname": name,
                "topology.kubernetes.io/zone": f"eu-west-1{'abc'[number % 3]}",
            },
        },
        "spec": {},
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "images": images,
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-27T00:00:00Z"}],
        },
    }


def pod(number: int, version: int, on: str = "", ready: int = 0) -> dict[str, Any]:
    app = f"app-{number // PER_TEMPLATE}"
    container = {
        "name": "main",
        "image": f"registry.example.com/team/{app}:1.4.2",
        "env": [{"name": f"SETTING_{each}", "value": "x" * 40} for each in range(15)],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
        "volumeMounts": [{"name": "kube-api-access", "mountPath": "/var/run/secrets"}],
    }
    status: dict[str, Any] = {"phase": "Pending", "qosClass": "Burstable"}
    if on:
        conditions = [
            {
                "type": each,
                "status": "True" if ready >= 3 else "False",
                "lastTransitionTime": "2026-11-27T00:00:00Z",
            }
            for each in ("Initialized", "Ready", "ContainersReady")
        ]
        conditions.append(
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-27T00:00:00Z"}
        )
        status |= {
            "phase": "Running" if ready >= 2 else "Pending",
            "conditions": conditions,
            "containerStatuses": [
                {"name": "main", "ready": ready >= 3, "restartCount": 0, "state": {"n": {}}}
            ],
        }
    return {
        "metadata": {
            "name": f"{app}-7d9f8b6c5-{number:05d}",
            "namespace": f"team-{number // 1000}",
            "uid": f"pod-{number}",
            "resourceVersion": str(version),
            "creationTimestamp": "2026-11-27T00:00:00Z",
            "labels": {"app": app, "pod-template-hash": "7d9f8b6c5"},
            "managedFields": [{"manager": "kube-controller-manager", "fieldsV1": {"f:spec": {}}}] * 3,
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": app, "controller": True}
            ],
        },
        "spec": {
            "containers": [container],
            "priority": 0,
            "schedulerName": "default-scheduler",
            "volumes": [{"name": "kube-api-access", "projected": {"sources": []}}],
            **({"nodeName": on} if on else {}),
        },
        "status": status,
    }


class Cluster:
    """Lists, and the lines of watches."""

    def __init__(self, nodes: int, pods: int) -> None:
        self.names = [node(each)["metadata"]["name"] for each in range(nodes)]
        self.version = nodes + pods + 1
        self.pods = pods
        bound = (pod(each, nodes + each, self.names[each % nodes], 3) for each in range(pods))
        self.lists = {
            "nodes": [json.dumps(node(each)) for each in range(nodes)],
            "pods": [json.dumps(each) for each in bound],
        }
        self.lines: dict[str, list[bytes]] = {"pods": [], "events": []}
        self.more = threading.Condition()

    def say(self, plural: str, kind: str, manifest: dict[str, Any]) -> None:
        text = json.dumps({"type": kind, "object": manifest}).encode() + b"\n"
        with self.more:
            self.lines[plural].append(text)
            self.more.notify_all()

    def bind_all(self, rate: float) -> None:
        """Create and bind a pod after the other. Its label says when it was bound."""
        due = time.monotonic()
        for number in range(self.pods, self.pods + round(rate * SECONDS)):
            due += 1 / rate
            time.sleep(max(0.0, due - time.monotonic()))
            on = self.names[number % len(self.names)]
            self.version += 1
            self.say("pods", "ADDED", pod(number, self.version))
            for ready in range(WRITES):
                self.version += 1
                made = pod(number, self.version, on, ready)
                if ready == 0:
                    made["metadata"]["labels"]["bound-at"] = f"{time.time():.3f}"
                self.say("pods", "MODIFIED", made)
            self.version += 1
            name = made["metadata"]["name"]
            self.say(
                "events", "ADDED", scheduled(name, made["metadata"]["namespace"], number, on, self.version)
            )


def scheduled(name: str, namespace: str, number: int, on: str, version: int) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"{name}.1",
            "namespace": namespace,
            "uid": f"event-{number}",
            "resourceVersion": str(version),
            "creationTimestamp": "2026-11-27T00:00:00Z",
        },
        "involvedObject": {"kind": "Pod", "name": name, "namespace": namespace, "uid": f"pod-{number}"},
        "reason": "Scheduled",
        "message": f"Successfully assigned {namespace}/{name} to {on}",
        "reportingComponent": "default-scheduler",
        "type": "Normal",
    }


def serve(nodes: int, pods: int, rate: float, port: int) -> None:
    cluster = Cluster(nodes, pods)
    paths = {list_path(resource): resource.plural for resource in FOLLOWED}
    began = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            query = {name: each[0] for name, each in parse_qs(asked.query).items()}
            if asked.path == "/begin":
                began.set()
            plural = paths.get(asked.path, "")
            if "watch" in query:
                self._watch(plural)
                return
            body = b'{"gitVersion":"v1.36.2"}'
            if plural:
                items = cluster.lists.get(plural, [])
                start = int(query.get("continue", "0"))
                end = start + int(query.get("limit", "500"))
                more = str(end) if end < len(items) else ""
                meta = json.dumps({"resourceVersion": str(cluster.version), "continue": more})
                body = f'{{"metadata":{meta},"items":[{",".join(items[start:end])}]}}'.encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _watch(self, plural: str) -> None:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            sent = 0
            lines = cluster.lines.get(plural, [])
            while True:
                with cluster.more:
                    if len(lines) == sent:
                        cluster.more.wait(30)
                    found = b"".join(lines[sent:])
                    sent = len(lines)
                if found:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(found), found))

    listening = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    listening.daemon_threads = True
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    print("ready", flush=True)
    began.wait()
    cluster.bind_all(rate)
    time.sleep(3600)


def measure(nodes: int, pods: int, rate: float) -> None:
    folder, port, web = Path(tempfile.mkdtemp()), free_port(), free_port()
    own = [sys.executable, "-m", "tests.mirror.measure", "--serve", str(port)]
    sizes = [f"--nodes={nodes}", f"--pods={pods}", f"--rate={rate}"]
    started: list[subprocess.Popen[str]] = []
    with lock(folder) as held:
        redis = EmbeddedRedis.start(folder, held)
        environment = {**os.environ, "REDIS_URL": redis.url, "PORT": str(web), "DATA_DIR": str(folder)}

        def start(*command: str) -> "subprocess.Popen[str]":
            made = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
            started.append(made)
            return made

        try:
            server = start(*own, *sizes)
            assert server.stdout
            server.stdout.readline()
            start(sys.executable, "-m", "schedviz.server", f"--port={web}")
            worker = [sys.executable, "-m", "celery", "--app=schedviz", "--quiet", "worker", "--pool=solo"]
            start(*worker, "--loglevel=WARNING", "--role=worker")
            config = write_kubeconfig(folder / "kubeconfig", f"http://127.0.0.1:{port}")
            began = time.monotonic()
            mirror = start(sys.executable, "-m", "schedviz", "mirror", "--kubeconfig", str(config))
            sandbox = Store(redis.url).handle("prod")
            while _count(sandbox) < pods:
                time.sleep(0.1)
            taken = time.monotonic() - began
            print(f"first picture after {taken:.1f} s, {cpu_seconds(mirror.pid):.1f} s of CPU", flush=True)
            assert mirror.stdout
            mirror.stdout.readline()
            taken = time.monotonic() - began
            print(f"follows after {taken:.1f} s, {memory(mirror.pid)} MB", flush=True)
            page = start("curl", "-s", f"http://127.0.0.1:{web}/s/prod/")
            page.communicate()
            cpu = cpu_seconds(mirror.pid)
            subprocess.run(
                ["curl", "-s", f"http://127.0.0.1:{port}/begin?"], check=False, capture_output=True
            )
            ages = [*watch_bindings(sandbox, round(rate * SECONDS))]
            used = cpu_seconds(mirror.pid) - cpu
            ages.sort()
            print(f"{len(ages)} bindings at {rate:g} a second")
            print(
                f"behind: median {statistics.median(ages):.2f} s, 99 % {ages[int(len(ages) * 0.99)]:.2f} s, "
                f"at most {ages[-1]:.2f} s"
            )
            print(f"CPU: {used / SECONDS:.0%} of a core; largest memory {memory(mirror.pid)} MB")
        finally:
            for each in reversed(started):
                each.terminate()
                each.wait()
            redis.stop()


def _count(sandbox: Any) -> int:
    try:
        sandbox.meta()
        return int(sandbox.count("pods"))
    except NoSandbox:
        return 0


def watch_bindings(sandbox: Any, count: int) -> Iterator[float]:
    """Yield how old each binding is when it is in the watch log."""
    seen, found, until = sandbox.version(), 0, time.monotonic() + SECONDS + 30
    while found < count and time.monotonic() < until:
        events = sandbox.events(seen, 1000)
        now = time.time()
        for event in events:
            seen = event.version
            at = event.object["metadata"].get("labels", {}).get("bound-at")
            if at:
                found += 1
                yield now - float(at)
        time.sleep(0.02)


def memory(pid: int) -> int:
    """The largest resident memory of a process, in MB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return round(int(found[1]) / 1000)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--serve", type=int, default=0)
    options = parser.parse_args()
    if options.serve:
        serve(options.nodes, options.pods, options.rate, options.serve)
    else:
        measure(options.nodes, options.pods, options.rate)
