"""Whatever stands in a manifest: it is admitted, or refused with a Status. Nothing else."""

import copy
from typing import Any

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given, settings

from simulator.api import Manifest
from simulator.apiserver import admission, resources
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.patches.json_patch import apply_merge_patch
from simulator.apiserver.patches.strategic_merge_patch import apply_strategic_merge_patch
from simulator.apiserver.selection import selection_predicate
from simulator.apiserver.table import build_table
from simulator.apiserver.types.schema_types import type_of
from simulator.apiserver.update import admit_update
from tests.amounts import examples
from tests.apiserver.cluster import NOW, Cluster, refusal

GOOD = parse_manifests("""
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
  annotations: {schedviz/run-seconds: "5"}
  finalizers: [example.com/a]
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u}]
spec:
  hostNetwork: true
  overhead: {cpu: 1m}
  resources: {limits: {cpu: "2"}}
  nodeSelector: {disk: ssd}
  schedulingGates: [{name: example.com/quota}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: c}}]
  initContainers: [{name: init, image: i, restartPolicy: Always}]
  containers:
    - name: main
      image: web:1
      ports: [{containerPort: 80, hostPort: 80}]
      volumeMounts: [{name: data, mountPath: /data}]
      resources: {requests: {cpu: 500m}, limits: {cpu: "1", example.com/gpu: "1"}}
  tolerations: [{key: a, operator: Equal, value: b, effect: NoExecute, tolerationSeconds: 5}]
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: zone
      whenUnsatisfiable: DoNotSchedule
      matchLabelKeys: [app]
      labelSelector: {}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions: [{key: a, operator: In, values: [b]}]
            matchFields: [{key: metadata.name, operator: In, values: [n]}]
      preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 5, preference: {matchExpressions: [{key: a, operator: Gt, values: ["1"]}]}}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: zone, namespaces: [a], labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [app]}
      preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 5, podAffinityTerm: {topologyKey: zone, namespaceSelector: {}}}
status:
  phase: Running
  conditions: [{type: Ready, status: "True"}]
  containerStatuses: [{name: main, image: i, imageID: i, ready: true, restartCount: 1}]
---
apiVersion: v1
kind: Node
metadata: {name: n}
spec: {unschedulable: true, taints: [{key: a, value: b, effect: NoSchedule}]}
status:
  capacity: {cpu: "4", pods: 110}
  allocatable: {memory: 8Gi}
  conditions: [{type: Ready, status: "True"}]
  images: [{names: ["a:1"], sizeBytes: 5}]
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}, value: 5, globalDefault: true}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: b}
spec: {minAvailable: 50%, selector: {matchExpressions: [{key: a, operator: In, values: [b]}]}}
status: {disruptionsAllowed: 1}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: s, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: example.com/p
---
apiVersion: schedviz/v1
kind: Timetable
metadata: {name: t}
spec: {entries: [{at: 1s, every: 2s, object: {kind: Pod}}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: queues.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: queues, kind: Queue}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {size: 1}
""")

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["1e99999", "-1", "0", "99Ei", "1.5", "In", "Exists", "default", "a/b/c", "x" * 300]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def mutated(draw: st.DrawFn) -> Manifest:
    """A good manifest with up to three of its values replaced, removed, or joined by another."""
    manifest = copy.deepcopy(draw(st.sampled_from(GOOD)))
    for _ in range(draw(st.integers(0, 3))):
        places = [*_places(manifest)]
        parent, key = places[draw(st.integers(0, len(places) - 1))]
        match draw(st.sampled_from(["replace", "remove", "add"])):
            case "replace":
                parent[key] = draw(values)
            case "remove":
                del parent[key]
            case "add" if isinstance(parent, dict):
                parent[draw(st.text(max_size=5))] = draw(values)
        if not manifest:
            break
    return manifest


def _places(value: Any) -> Any:
    """Every value inside, as the container and the key where it is."""
    for key, item in [*(value.items() if isinstance(value, dict) else enumerate(value))]:
        yield value, key
        if isinstance(item, dict | list):
            yield from _places(item)


@pytest.mark.sampled
@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(mutated())
def test_any_manifest_is_admitted_or_refused_with_a_status(manifest: Manifest) -> None:
    before = copy.deepcopy(manifest)
    cluster = Cluster()
    admitted: list[Manifest] = []
    refused = refusal(lambda: admitted.extend(cluster.create([manifest])))
    assert manifest == before, "the request is not changed"
    if refused:
        assert 400 <= refused.status()["code"] < 500
        assert msgspec.json.encode(refused.status())
        return
    (created,) = admitted
    resource = admission.resource_of(created, cluster)
    assert build_table(resource, [created], {}, NOW)["rows"]
    admit_delete(resource, created, NOW)
    again = admit_update(resource, created, copy.deepcopy(created), cluster)
    assert again.changes == [], "what was admitted is admitted again as it is"


@pytest.mark.sampled
@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(st.sampled_from(GOOD), mutated(), st.booleans(), st.sampled_from(["", "status"]))
def test_any_patch_is_applied_or_refused_with_a_status(
    manifest: Manifest, patch: Manifest, strategically: bool, subresource: str
) -> None:
    cluster = Cluster()
    (old,) = cluster.create([manifest])
    before = copy.deepcopy(old)
    resource = admission.resource_of(old, cluster)

    def change() -> None:
        new = (
            apply_strategic_merge_patch(type_of(resource), old, patch)
            if strategically
            else apply_merge_patch(old, patch)
        )
        cluster.update(resource, old, new, subresource if resource.has_status else "")

    refused = refusal(change)
    assert refused is None or 400 <= refused.status()["code"] < 500
    assert old == before, "the stored object is not changed"


@settings(derandomize=True)
@given(st.text(alphabet="ab=!,()<> in.\n", max_size=30), st.sampled_from(resources.BUILT_IN))
def test_any_selector_selects_or_is_refused(text: str, resource: resources.Resource) -> None:
    manifest = {"metadata": {"name": "a", "labels": {"a": "b"}}}

    def select(labels: str, fields: str) -> bool:
        check = selection_predicate(resource, labels, fields)
        return check is None or check(manifest)

    for refused in (refusal(lambda: select(text, "")), refusal(lambda: select("", text))):
        assert refused is None or refused.code == 400
