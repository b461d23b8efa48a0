// An informer of the official client. Prints the pods that it knows, and the value of their label, after each change.
// usage: node watch_pods.js KUBECONFIG
import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";

const NAMESPACE = "default";
const RESTART_MILLISECONDS = 100;

const config = new KubeConfig();
config.loadFromFile(process.argv[2]);
const core = config.makeApiClient(CoreV1Api);
const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
const informer = makeInformer(config, path, () => core.listNamespacedPod({ namespace: NAMESPACE }));

function print() {
  const known = informer
    .list(NAMESPACE)
    .map(({ metadata }) => [metadata.name, metadata.labels?.version ?? ""]);
  console.log(JSON.stringify(Object.fromEntries(known.sort())));
}

for (const event of ["add", "update", "delete"]) {
  informer.on(event, print);
}
// The connection is lost: the informer lists and watches again.
informer.on("error", () => setTimeout(() => informer.start(), RESTART_MILLISECONDS));
await informer.start();
print();
