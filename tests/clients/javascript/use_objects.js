// Creates, applies, patches, lists, evicts and deletes objects by the official client, and checks what it is answered.
// usage: node use_objects.js KUBECONFIG
import assert from "node:assert/strict";

import {
  ApiException,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  PatchStrategy,
  SchedulingV1Api,
  setHeaderOptions,
} from "@kubernetes/client-node";

const namespace = "default";
const config = new KubeConfig();
config.loadFromFile(process.argv[2]);
const core = config.makeApiClient(CoreV1Api);
const scheduling = config.makeApiClient(SchedulingV1Api);
const objects = KubernetesObjectApi.makeApiClient(config);

function pod(name, priorityClassName) {
  const containers = [{ name: "main", image: "web:1", resources: { requests: { cpu: "500m" } } }];
  return { metadata: { name, labels: { app: "web" } }, spec: { priorityClassName, containers } };
}

async function refused(call) {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof ApiException, String(error));
    return [error.code, JSON.parse(error.body).reason];
  }
  assert.fail("it was not refused");
}

await scheduling.createPriorityClass({ body: { metadata: { name: "urgent" }, value: 1000 } });
const created = await core.createNamespacedPod({ namespace, body: pod("web", "urgent") });
assert.equal(created.spec.priority, 1000);
assert.ok(created.metadata.creationTimestamp instanceof Date);
assert.deepEqual(await refused(core.createNamespacedPod({ namespace, body: pod("web") })), [
  409,
  "AlreadyExists",
]);
assert.deepEqual(await refused(core.createNamespacedPod({ namespace, body: {} })), [422, "Invalid"]);
assert.deepEqual(await refused(core.readNamespacedPod({ namespace, name: "none" })), [404, "NotFound"]);

const merge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
const labels = { metadata: { labels: { tier: "front" } } };
const patched = await core.patchNamespacedPod({ namespace, name: "web", body: labels }, merge);
assert.deepEqual(patched.metadata.labels, { app: "web", tier: "front" });

const configMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "c", namespace },
  data: { a: "1" },
};
const applied = await objects.patch(
  configMap,
  undefined,
  undefined,
  "js",
  true,
  PatchStrategy.ServerSideApply,
);
assert.equal(applied.metadata.managedFields[0].manager, "js");
assert.equal(applied.data.a, "1");

const listed = await core.listNamespacedPod({ namespace, labelSelector: "app=web,tier", limit: 1 });
assert.deepEqual(
  listed.items.map(({ metadata }) => metadata.name),
  ["web"],
);
const custom = config.makeApiClient(CustomObjectsApi);
const widgets = { group: "example.com", version: "v1", namespace, plural: "widgets" };
const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: { size: 3 } };
await custom.createNamespacedCustomObject({ ...widgets, body: widget });
assert.equal((await custom.listNamespacedCustomObject(widgets)).items[0].spec.size, 3);

const eviction = { metadata: { name: "web", namespace } };
await core.createNamespacedPodEviction({ namespace, name: "web", body: eviction });
assert.deepEqual((await core.listNamespacedPod({ namespace })).items, []);
console.log("done");
