"""The canary of a fuzz is bound beside objects that refuse others."""

from urllib.parse import urlsplit

from schedviz.api import write
from schedviz.store import Sandbox, Store
from simulator.apiserver.manifest import parse_manifests
from tests.programs.fuzz import canary

REFUSING = f"""
apiVersion: v1
kind: Namespace
metadata: {{name: {canary.NAMESPACE}}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {{name: none, namespace: {canary.NAMESPACE}}}
spec: {{hard: {{pods: "0"}}}}
---
apiVersion: v1
kind: LimitRange
metadata: {{name: large, namespace: {canary.NAMESPACE}}}
spec: {{limits: [{{type: Container, min: {{cpu: "64"}}}}]}}
"""


def test_the_canary_is_bound_in_a_sandbox_that_refuses_all_objects(
    store: Store, sandbox: Sandbox, stack: str
) -> None:
    for manifest in parse_manifests(REFUSING):
        write.create(sandbox, [manifest])
    canary.prepare(store, sandbox, sandbox.meta())
    canary.check(urlsplit(stack).port or 0, sandbox)
    pod = sandbox.get("pods", f"{canary.NAMESPACE}/{canary.POD}")
    assert pod is not None
    assert pod["spec"]["nodeName"] == canary.NODE
